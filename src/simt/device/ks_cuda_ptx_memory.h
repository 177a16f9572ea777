// PTX instructions on memory: ld, st, atom, red, cp.async, ldmatrix, stmatrix.
#pragma once

namespace ks::ptx {

template <class R>
METAL_FUNC char* shared(R address, long offset = 0) {
  return (char*)this_engine()->group_memory() + u32(as<u64>(address)) + offset;
}
template <class R>
METAL_FUNC char* generic(R address, long offset = 0) {
  return (char*)as<u64>(address) + offset;
}
METAL_FUNC u64 to_shared(u64 at) { return __cvta_generic_to_shared((const void*)at); }
METAL_FUNC u64 from_shared(u64 at) { return (u64)__cvta_shared_to_generic(u32(at)); }
METAL_FUNC bool is_shared(u64 at) { return at - (u64)this_engine()->group_memory() < (64u << 20); }

template <class T, int n>
struct alignas(n * sizeof(T)) Wide {
  T part[n];
};
template <class T, class R, int n>
METAL_FUNC void load(Refs<R, n> to, const char* from) {
  const Wide<T, n> all = ks::ref((const Wide<T, n>*)from);
  for (int i = 0; i < n; ++i) set(to[i], all.part[i]);
}
template <class T, class R, int n>
METAL_FUNC void store(char* to, Refs<R, n> from) {
  Wide<T, n> all;
  for (int i = 0; i < n; ++i) all.part[i] = as<T>(from[i]);
  ks::ref((Wide<T, n>*)to) = all;
}
template <class T, class R>
METAL_FUNC void load_atomic(Refs<R, 1> to, const char* from) {
  set(to[0], ks::atomic_load((const T*)from));
}
template <class T, class R>
METAL_FUNC void store_atomic(char* to, Refs<R, 1> from) {
  ks::atomic_store((T*)to, as<T>(from[0]));
}
METAL_FUNC void fence() { this_engine()->fence(); }

#define KS_PTX_ATOMIC(name, Change)                         \
  template <class T>                                        \
  METAL_FUNC T atom_##name(char* at, T value) {             \
    return ks::atomic_update((T*)at, ks::Change<T>{value}); \
  }
KS_PTX_ATOMIC(add, AddTo)
KS_PTX_ATOMIC(min, MinWith)
KS_PTX_ATOMIC(max, MaxWith)
KS_PTX_ATOMIC(exch, SetTo)
KS_PTX_ATOMIC(and, AndWith)
KS_PTX_ATOMIC(or, OrWith)
KS_PTX_ATOMIC(xor, XorWith)
KS_PTX_ATOMIC(inc, CountUp)
KS_PTX_ATOMIC(dec, CountDown)
#undef KS_PTX_ATOMIC
template <class T>
METAL_FUNC T atom_cas(char* at, T expected, T wanted) {
  return ks::atomic_compare((T*)at, expected, wanted);
}

// noinline: where it returns to is the place in the source.
KS_PLAIN __attribute__((noinline)) inline void start_copy(char* to, const char* from, u32 bytes,
                                                          u32 from_bytes) {
  this_engine()->start_copy(to, from, bytes, from_bytes < bytes ? from_bytes : bytes, KS_HERE);
}
METAL_FUNC void copy_async(char* to, const char* from, u32 bytes, u32 from_bytes) {
  start_copy(to, from, bytes, from_bytes);
}
METAL_FUNC void commit_copies() { this_engine()->commit_copies(); }
METAL_FUNC void wait_for_copies(int pending) { this_engine()->wait_for_copies(pending); }

/// Rows of 8x8 matrices of 16-bit elements, in the addresses of lanes 8m to 8m + 7 for matrix m;
/// lane l is given elements 2 (l % 4) and the next of row l / 4; transposed: of column l / 4.
template <int n>
struct Words {
  u32 word[n];
};
template <int n, bool transposed>
void resolve_load_matrix(Post* const* lanes, u32 mask) {
  each_lane(mask, [&](u32 l) {
    Words<n> result;
    bool there = true;
    for (u32 m = 0; m < n; ++m) {
      u32 word = 0;
      for (u32 i = 0; i < 2; ++i) {
        const u32 row = transposed ? 2 * (l % 4) + i : l / 4;
        const u32 column = transposed ? l / 4 : 2 * (l % 4) + i;
        const u32 owner = 8 * m + row;
        if (!(mask >> owner & 1u)) {
          there = false;
          continue;
        }
        word |= u32(posted<Wide<b16, 8>>(lanes, owner).part[column]) << (16 * i);
      }
      result.word[m] = word;
    }
    if (there)
      answer<Words<n>>(lanes, l, result);
    else
      this_engine()->undefined_lane(post_out(lanes, l), sizeof(Words<n>), l);
  });
}
template <bool transposed, class R, int n>
METAL_FUNC void meet_load_matrix(Refs<R, n> to, const char* row) {
  // Only the first 8n lanes' addresses are read.
  Wide<b16, 8> own{};
  if (ks_lane_id() < 8 * n) own = ks::ref((const Wide<b16, 8>*)row);
  const Words<n> words =
      exchange<Words<n>>(own, &resolve_load_matrix<n, transposed>, 0, 0xffffffffu);
  for (int i = 0; i < n; ++i) set(to[i], words.word[i]);
}
template <int n, bool transposed>
void resolve_store_matrix(Post* const* lanes, u32 mask) {
  if (mask != 0xffffffffu) {
    each_lane(mask, [&](u32 l) { this_engine()->undefined_lane(post_out(lanes, l), 16, l); });
    return;
  }
  each_lane(mask, [&](u32 l) {
    const u32 m = l / 8, row = l % 8;
    Wide<b16, 8> result{};
    for (u32 column = 0; column < 8 && m < n; ++column) {
      const u32 owner = transposed ? 4 * column + row / 2 : 4 * row + column / 2;
      const u32 word = posted<Words<n>>(lanes, owner).word[m];
      result.part[column] = b16(word >> (16 * ((transposed ? row : column) % 2)));
    }
    answer<Wide<b16, 8>>(lanes, l, result);
  });
}
template <bool transposed, class R, int n>
METAL_FUNC void meet_store_matrix(char* row, Refs<R, n> from) {
  Words<n> own;
  for (int i = 0; i < n; ++i) own.word[i] = as<u32>(from[i]);
  const auto result =
      exchange<Wide<b16, 8>>(own, &resolve_store_matrix<n, transposed>, 0, 0xffffffffu);
  if (ks_lane_id() < 8 * n) ks::ref((Wide<b16, 8>*)row) = result;
}

}  // namespace ks::ptx

// cuda_pipeline.h
METAL_FUNC void __pipeline_memcpy_async(void* to, const void* from, size_t bytes,
                                        size_t zeros = 0) {
  ks::ptx::copy_async((char*)to, (const char*)from, unsigned(bytes), unsigned(bytes - zeros));
}
METAL_FUNC void __pipeline_commit() { ks::ptx::commit_copies(); }
METAL_FUNC void __pipeline_wait_prior(size_t pending) { ks::ptx::wait_for_copies(int(pending)); }
