// One thread a row: its maximum, the sum, the quotients.
const int row = thread_position_in_grid.x;
if (row >= rows) return;
const int start = row * cols;
float top = -INFINITY, sum = 0.0f;
for (int c = 0; c < cols; ++c) top = max(top, float(x[start + c]));
for (int from = 0; from < cols; from += 256) {  // in parts: a long sum would lose digits
  float part = 0.0f;
  for (int c = from; c < min(from + 256, cols); ++c) part += exp(float(x[start + c]) - top);
  sum += part;
}
for (int c = 0; c < cols; ++c) out[start + c] = T(exp(float(x[start + c]) - top) / sum);
