// Content hashes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ksearch::base {

/// SHA-256 as 64 hex digits (OpenSSL's libcrypto).
std::string sha256(std::string_view bytes);

/// The first 16 hex digits of SHA-256: names of programs, build artefacts and cache entries.
std::string short_hash(std::string_view bytes);

/// 64 bits for tables and for seeds forked by name; not for content that may be hostile.
std::uint64_t fnv1a(std::string_view bytes, std::uint64_t start = 0xcbf29ce484222325ull);

}  // namespace ksearch::base
