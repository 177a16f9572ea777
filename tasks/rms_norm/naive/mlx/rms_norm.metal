// One thread a row: its sum of squares, then the row again.
const int row = thread_position_in_grid.x;
if (row >= rows) return;
const int start = row * cols;
float squares = 0.0f;
for (int from = 0; from < cols; from += 256) {  // in parts: a long sum would lose digits
  float part = 0.0f;
  for (int c = from; c < min(from + 256, cols); ++c) part += float(x[start + c]) * float(x[start + c]);
  squares += part;
}
const float scale = rsqrt(squares / cols + eps);
for (int c = 0; c < cols; ++c) out[start + c] = T(float(x[start + c]) * scale * float(w[c]));
