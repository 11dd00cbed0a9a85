// SHA-256 (FIPS 180-4). As hexadecimal digits: the names of everything in the cache.
//
// OpenSSL computes it. Keys are made of texts, so that collisions are no concern; artifacts are
// named by their bytes, so that a damaged file cannot be taken for a sound one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace graphgate {

inline constexpr std::size_t kSha256Digits = 64;
// kSha256Digits lower-case hexadecimal digits. Throws std::bad_alloc.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

// The same digest in base64 (RFC 4648), as the policy of a web page names a script by its bytes.
[[nodiscard]] std::string sha256_base64(std::string_view bytes);

}  // namespace graphgate
