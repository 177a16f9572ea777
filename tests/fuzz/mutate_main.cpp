// Runs a fuzz entry without libFuzzer: each seed file as it is, every truncation of it, and
// mutations of it from a fixed seed; or, with --seconds N first, mutations of mutations for so
// long. Fails by crashing, hanging, or a sanitizer's report; what was being read is then in the
// file fuzz-input, where --seconds is given.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kMutations = 3000;

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

/// One to four changes: a byte replaced, a piece cut out, a piece repeated, a piece of JSON or code
/// put in.
std::string mutate(std::string text, ksearch::base::Random& random) {
  static constexpr const char* kPieces[] = {
      "{", "}", "[", "]", "\"", ":", ",", "null", "-1", "1e999", "99999999999999999999", "\\u0000",
      "(", ")", "true", "\xff",
      // Of code.
      "<", ">", "::", "[[", "]]", "template <class T> ", "threadgroup ", "kernel ", "simd_sum(",
      "asm(\"", "*", "&", "#", "//", "/*", "\n", "(device float4*)", "__shared__ ",
      "[&](auto x) { "};
  for (std::uint64_t n = 1 + random.below(4); n > 0 && !text.empty(); --n) {
    const std::size_t at = random.below(text.size());
    switch (random.below(4)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(at, 1 + random.below(16));
        break;
      case 2:
        text.insert(at, text.substr(random.below(text.size()), 1 + random.below(32)));
        break;
      default:
        text.insert(at, kPieces[random.below(std::size(kPieces))]);
    }
  }
  return text;
}

/// Mutations of the seeds and of what came of them, from a seed that the time gives.
int run_for(int seconds, const std::vector<std::string>& seeds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  const auto seed = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  ksearch::base::Random random(seed);
  std::vector<std::string> pool = seeds;
  std::uint64_t runs = 0;
  double longest = 0;
  for (; Clock::now() < end; ++runs) {
    const std::string text = mutate(pool[random.below(pool.size())], random);
    std::ofstream("fuzz-input", std::ios::binary) << text;
    const auto start = Clock::now();
    run(text);
    longest = std::max(longest, std::chrono::duration<double>(Clock::now() - start).count());
    // Deeper mutations, without forgetting where they came from.
    if (pool.size() < 64 * seeds.size())
      pool.push_back(text);
    else
      pool[seeds.size() + random.below(pool.size() - seeds.size())] = text;
    if (random.below(4096) == 0) pool.resize(seeds.size());
  }
  std::printf("%llu inputs from seed %llu, the longest took %.3f s\n",
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(seed),
              longest);
  return 0;
}

std::vector<std::string> read_seeds(int count, char** paths) {
  std::vector<std::string> seeds;
  for (int i = 0; i < count; ++i) {
    std::ifstream in(paths[i], std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (!seeds.back().empty()) continue;
    std::fprintf(stderr, "%s: no seed there\n", paths[i]);
    std::exit(1);
  }
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::string(argv[1]) == "--seconds")
    return run_for(std::atoi(argv[2]), read_seeds(argc - 3, argv + 3));
  ksearch::base::Random random(1);
  for (const std::string& seed : read_seeds(argc - 1, argv + 1)) {
    for (std::size_t n = 0; n <= seed.size(); ++n) run(seed.substr(0, n));
    for (int k = 0; k < kMutations; ++k) run(mutate(seed, random));
  }
  std::printf("%d seeds, every truncation and %d mutations of each\n", argc - 1, kMutations);
  return argc > 1 ? 0 : 1;
}
