#include "target/cpu/probes.h"

#include <fmt/format.h>

namespace ksearch::target {
namespace {

// 24 accumulators: latency 4 or 5 times two to four pipes, and they fit 32 registers (16 of AVX2
// hold 12 of them without a spill).
constexpr const char* kFmaSource = R"cpp(
#if defined(__AVX512F__)
#define WIDTH 16
#elif defined(__AVX__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
#if defined(__AVX512F__) || defined(__aarch64__)
#define COUNT 24
#else
#define COUNT 12
#endif
  typedef float vec __attribute__((vector_size(4 * WIDTH)));
  extern "C" void probe(float* out, int64_t iterations, const ks_group* g) {
    vec acc[COUNT];
    const float seed = out[g->id[0]];
    const vec a = seed * 0.5f + vec{}, b = seed + vec{};
#pragma GCC unroll 24
    for (int k = 0; k < COUNT; ++k) acc[k] = b + static_cast<float>(k);
    for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 24
      for (int k = 0; k < COUNT; ++k) acc[k] = acc[k] * a + b;
    }
    vec sum{};
#pragma GCC unroll 24
    for (int k = 0; k < COUNT; ++k) sum += acc[k];
    float total = 0;
    for (int k = 0; k < WIDTH; ++k) total += sum[k];
    out[g->id[0]] = total > 1e30f ? 1.0f : 0.5f;
  }
)cpp";

constexpr const char* kMatrixSource = R"cpp(
#include <immintrin.h>
  extern "C" void probe(float* out, int64_t iterations, const ks_group* g) {
#ifdef __AMX_BF16__
    // Rows of 64 bytes: tiles 0 to 3 accumulate, 4 to 7 are the operands.
    alignas(64) unsigned char config[64] = {1};
    for (int t = 0; t < 8; ++t) {
      config[16 + 2 * t] = 64;
      config[48 + t] = 16;
    }
    alignas(64) unsigned char zeros[1024] = {};
    _tile_loadconfig(config);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_loadd(4, zeros, 64);
    _tile_loadd(5, zeros, 64);
    _tile_loadd(6, zeros, 64);
    _tile_loadd(7, zeros, 64);
    for (int64_t i = 0; i < iterations; ++i) {
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, zeros, 64);
    out[g->id[0]] = static_cast<float>(zeros[0]);
    _tile_release();
#else
    out[g->id[0]] = static_cast<float>(iterations);
#endif
  }
)cpp";
constexpr double kMatrixFlopsAnIteration = 4 * 2.0 * 16 * 16 * 32;

constexpr const char* kCopySource = R"cpp(
#if defined(__x86_64__)
#include <immintrin.h>
#endif
  typedef float vec __attribute__((vector_size(64)));
  extern "C" void probe(const float* x, float* out, int64_t n, int64_t repeats, const ks_group* g) {
    const int64_t blocks = n / 16, from = blocks * g->id[0] / g->count[0] * 16,
                  to = blocks * (g->id[0] + 1) / g->count[0] * 16;
    for (int64_t r = 0; r < repeats; ++r) {
      const vec add = static_cast<float>(r) + vec{};
      for (int64_t i = from; i < to; i += 16) {
        const vec v = *reinterpret_cast<const vec*>(x + i) + add;
#if STREAM && defined(__AVX512F__)
        _mm512_stream_ps(out + i, reinterpret_cast<const __m512&>(v));
#elif STREAM && defined(__AVX__)
        _mm256_stream_ps(out + i, reinterpret_cast<const __m256*>(&v)[0]);
        _mm256_stream_ps(out + i + 8, reinterpret_cast<const __m256*>(&v)[1]);
#else
        *reinterpret_cast<vec*>(out + i) = v;
#endif
      }
#if STREAM && defined(__x86_64__)
      _mm_sfence();
#endif
    }
  }
)cpp";

Probe make(const char* source, int threads, std::vector<kernel::BoundArg> args,
           std::vector<TensorShape> tensors, kernel::BoundDefines defines = {}) {
  Probe probe;
  probe.program.dialect = kernel::Dialect::cpp;
  probe.program.sources = {{"probe.cpp", source}};
  kernel::BoundLaunch launch;
  launch.kernel = "probe";
  launch.defines = std::move(defines);
  launch.groups = {threads, 1, 1};
  launch.args = std::move(args);
  probe.plans.resize(1);
  probe.plans[0].launches = {std::move(launch)};
  probe.tensors = std::move(tensors);
  return probe;
}

kernel::BoundArg tensor(std::string name, bool writes) {
  return kernel::BoundTensor{std::move(name), 0, writes, kernel::DType::float32, {}};
}

kernel::BoundArg integer(std::int64_t value, std::string name) {
  return kernel::BoundScalar{kernel::ScalarKind::i64, value, std::move(name)};
}

}  // namespace

Probe fma_probe(int threads, std::int64_t iterations, std::int64_t simd_width) {
  Probe probe = make(kFmaSource, threads, {tensor("out", true), integer(iterations, "iterations")},
                     {{"out", kernel::DType::float32, {threads}, kernel::Access::out}});
#if defined(__aarch64__)
  const double accumulators = 24;
#else
  const double accumulators = simd_width == 16 ? 24 : 12;
#endif
  probe.flops = 2.0 * static_cast<double>(simd_width) * accumulators *
                static_cast<double>(iterations) * threads;
  return probe;
}

Probe matrix_probe(int threads, std::int64_t iterations) {
  Probe probe =
      make(kMatrixSource, threads, {tensor("out", true), integer(iterations, "iterations")},
           {{"out", kernel::DType::float32, {threads}, kernel::Access::out}});
  probe.flops = kMatrixFlopsAnIteration * static_cast<double>(iterations) * threads;
  return probe;
}

Probe copy_probe(int threads, std::int64_t working_set_bytes, std::int64_t repeats,
                 bool streaming) {
  const std::int64_t n = working_set_bytes / 2 / 4;
  Probe probe =
      make(kCopySource, threads,
           {tensor("x", false), tensor("out", true), integer(n, "n"), integer(repeats, "repeats")},
           {{"x", kernel::DType::float32, {n}, kernel::Access::in},
            {"out", kernel::DType::float32, {n}, kernel::Access::out}},
           {{"STREAM", streaming ? "1" : "0"}});
  probe.bytes = 8.0 * static_cast<double>(n) * static_cast<double>(repeats);
  return probe;
}

}  // namespace ksearch::target
