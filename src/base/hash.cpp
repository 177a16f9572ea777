#include "base/hash.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace ksearch::base {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int ok =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  KS_CHECK(ok == 1 && size == 32, "SHA-256 is always there");
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += kHex[digest[i] >> 4];
    text += kHex[digest[i] & 15];
  }
  return text;
}

std::string short_hash(std::string_view bytes) { return sha256(bytes).substr(0, 16); }

std::uint64_t fnv1a(std::string_view bytes, std::uint64_t start) {
  std::uint64_t h = start;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}

}  // namespace ksearch::base
