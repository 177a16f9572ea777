/// Of the lanes with this one's value: how many stand before it, and how many there are.
struct Rank {
  int before, all;
};
inline Rank rank_in_simdgroup(int value, int lane) {
  Rank rank{0, 0};
#pragma unroll
  for (ushort j = 0; j < 32; ++j) {
    const bool same = simd_shuffle(value, j) == value;
    rank.all += same;
    rank.before += same && j < lane;
  }
  return rank;
}
