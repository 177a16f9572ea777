// PTX: what lanes of a warp and warps of a block do together.
#pragma once
#include "ks_cuda_ptx.h"

namespace ks::ptx {

struct Picked {
  u32 source;
  bool valid;
};
/// Where shfl reads: the mode, and the operands b and c as PTX defines them.
METAL_FUNC Picked pick(int mode, u32 b, u32 c) {
  const u32 own = ks_lane_id(), segment = c >> 8 & 31u, clamp = c & 31u;
  const u32 last = (own & segment) | (clamp & ~segment), first = own & segment;
  b &= 31u;
  u32 from = own;
  bool valid = true;
  if (mode == 0) from = own - b, valid = int(own - b) >= int(last);
  if (mode == 1) from = own + b, valid = from <= last;
  if (mode == 2) from = own ^ b, valid = from <= last;
  if (mode == 3) from = first | (b & ~segment), valid = from <= last;
  return {valid ? from : own, valid};
}
METAL_FUNC u32 shfl(int mode, u32 value, u32 b, u32 c, u32 mask, bool* valid = nullptr) {
  const Picked picked = pick(mode, b, c);
  if (valid) *valid = picked.valid;
  return shuffle_from<u32>(mask, value, picked.source);
}
METAL_FUNC u32 meet_ballot(u32 mask, bool value) { return __ballot_sync(mask, value); }
METAL_FUNC bool meet_any(u32 mask, bool value) { return __any_sync(mask, value); }
METAL_FUNC bool meet_all(u32 mask, bool value) { return __all_sync(mask, value); }
METAL_FUNC bool meet_uni(u32 mask, bool value) { return __uni_sync(mask, value); }
METAL_FUNC u32 meet_active() { return __activemask(); }
template <class T>
METAL_FUNC T meet_reduce_add(T value, u32 mask) {
  return __reduce_add_sync(mask, value);
}
template <class T>
METAL_FUNC T meet_reduce_min(T value, u32 mask) {
  return __reduce_min_sync(mask, value);
}
template <class T>
METAL_FUNC T meet_reduce_max(T value, u32 mask) {
  return __reduce_max_sync(mask, value);
}
template <class T>
METAL_FUNC T meet_reduce_and(T value, u32 mask) {
  return __reduce_and_sync(mask, value);
}
template <class T>
METAL_FUNC T meet_reduce_or(T value, u32 mask) {
  return __reduce_or_sync(mask, value);
}
template <class T>
METAL_FUNC T meet_reduce_xor(T value, u32 mask) {
  return __reduce_xor_sync(mask, value);
}
template <class T>
METAL_FUNC u32 meet_match_any(T value, u32 mask) {
  return __match_any_sync(mask, value);
}
METAL_FUNC void meet_barrier(u32 id, u32 threads = 0) { meet_at_barrier(id, threads, true, false); }
METAL_FUNC void arrive(u32 id, u32 threads) { meet_at_barrier(id, threads, false, false); }
METAL_FUNC void meet_warp(u32 mask) { __syncwarp(mask); }

}  // namespace ks::ptx
