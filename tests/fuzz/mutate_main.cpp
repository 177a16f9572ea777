// Runs a fuzz entry without libFuzzer: each seed file as it is, every truncation of it, and
// mutations of it from a fixed seed. Fails by crashing, hanging, or a sanitizer's report.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kMutations = 3000;

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

/// One to four changes: a byte replaced, a piece cut out, a piece repeated, a piece of JSON put in.
std::string mutate(std::string text, ksearch::base::Random& random) {
  static constexpr const char* kPieces[] = {
      "{",       "}", "[", "]",    "\"",  ":", ",", "null", "-1", "1e999", "99999999999999999999",
      "\\u0000", "(", ")", "true", "\xff"};
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

}  // namespace

int main(int argc, char** argv) {
  ksearch::base::Random random(1);
  for (int i = 1; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    const std::string seed{std::istreambuf_iterator<char>(in), {}};
    if (seed.empty()) {
      std::fprintf(stderr, "%s: no seed there\n", argv[i]);
      return 1;
    }
    for (std::size_t n = 0; n <= seed.size(); ++n) run(seed.substr(0, n));
    for (int k = 0; k < kMutations; ++k) run(mutate(seed, random));
  }
  std::printf("%d seeds, every truncation and %d mutations of each\n", argc - 1, kMutations);
  return argc > 1 ? 0 : 1;
}
