// One thread an expert: it counts the pairs of experts before it, then lists its own.
const int e = thread_position_in_grid.x;
if (e >= E) return;
int before = 0;
for (int p = 0; p < count; ++p) before += experts[p] < e;
offsets[e] = before;
for (int p = 0; p < count; ++p)
  if (experts[p] == e) pairs[before++] = p;
if (e == E - 1) offsets[E] = count;
