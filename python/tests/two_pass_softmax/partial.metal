// Largest value and sum of exponentials of CHUNK columns of a row, by one SIMD-group.
const uint lane = thread_index_in_simdgroup;
const uint chunk = threadgroup_position_in_grid.x, row = threadgroup_position_in_grid.y;
const uint begin = chunk * CHUNK + lane, end = min((chunk + 1) * CHUNK, uint(cols));
float largest = -INFINITY;
for (uint c = begin; c < end; c += 32) largest = max(largest, float(x[row * cols + c]));
largest = simd_max(largest);
float sum = 0;
for (uint c = begin; c < end; c += 32) sum += power(float(x[row * cols + c]) - largest);
sum = simd_sum(sum);
if (lane == 0) {
  part[2 * (row * splits + chunk)] = largest;
  part[2 * (row * splits + chunk) + 1] = sum;
}
