// What operations of a SIMD-group compute from the values that its lanes post: reductions, scans,
// shuffles, votes, of the lanes that take part.
#pragma once
#include "ks_meet.h"

namespace ks {

struct Add {
  template <class T>
  static METAL_FUNC T of(T a, T b) {
    return T(a + b);
  }
  template <class T>
  static METAL_FUNC T neutral() {
    return T(0);
  }
};
struct Multiply {
  template <class T>
  static METAL_FUNC T of(T a, T b) {
    return T(a * b);
  }
  template <class T>
  static METAL_FUNC T neutral() {
    return T(1);
  }
};
struct And {
  template <class T>
  static METAL_FUNC T of(T a, T b) {
    return T(a & b);
  }
};
struct Or {
  template <class T>
  static METAL_FUNC T of(T a, T b) {
    return T(a | b);
  }
};
struct Xor {
  template <class T>
  static METAL_FUNC T of(T a, T b) {
    return T(a ^ b);
  }
};

template <class Op, class T>
void resolve_reduce(Post* const* lanes, u32 mask) {
  T total = posted<T>(lanes, u32(__builtin_ctz(mask)));
  each_lane(mask & (mask - 1),
            [&](u32 l) { total = Op::template of<T>(total, posted<T>(lanes, l)); });
  each_lane(mask, [&](u32 l) { answer<T>(lanes, l, total); });
}
template <class Op, class T, bool inclusive>
void resolve_scan(Post* const* lanes, u32 mask) {
  T total = Op::template neutral<T>();
  each_lane(mask, [&](u32 l) {
    const T before = total;
    total = Op::template of<T>(total, posted<T>(lanes, l));
    answer<T>(lanes, l, inclusive ? total : before);
  });
}
template <class T>
void resolve_shuffle(Post* const* lanes, u32 mask) {
  each_lane(mask, [&](u32 l) {
    const u32 from = post_source(lanes, l);
    if (from < 32 && (mask >> from & 1u))
      answer<T>(lanes, l, posted<T>(lanes, from));
    else
      this_engine()->undefined_lane(post_out(lanes, l), sizeof(T), l);
  });
}
template <class T>
void resolve_first(Post* const* lanes, u32 mask) {
  const T value = posted<T>(lanes, u32(__builtin_ctz(mask)));
  each_lane(mask, [&](u32 l) { answer<T>(lanes, l, value); });
}

struct Votes {
  u32 yes, active;
};
inline void resolve_vote(Post* const* lanes, u32 mask) {
  Votes votes{0, mask};
  each_lane(mask, [&](u32 l) {
    if (posted<bool>(lanes, l)) votes.yes |= 1u << l;
  });
  each_lane(mask, [&](u32 l) { answer<Votes>(lanes, l, votes); });
}
METAL_FUNC Votes vote(bool value) { return exchange<Votes>(value, &resolve_vote); }

}  // namespace ks
