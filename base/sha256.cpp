#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <new>

#include "base/libcrypto.h"

namespace graphgate {
namespace {

struct Digest {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
};

Digest digest_of(std::string_view bytes) {
  Digest digest;
  require_libcrypto();
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest.bytes.data(), &digest.size,
                              EVP_sha256(), nullptr);
  if (done != 1) throw std::bad_alloc();  // a digest in memory lacks nothing else
  return digest;
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  const Digest digest = digest_of(bytes);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * std::size_t{digest.size});
  for (unsigned int i = 0; i < digest.size; ++i) {
    hex += kDigits[digest.bytes[i] >> 4];
    hex += kDigits[digest.bytes[i] & 0xF];
  }
  return hex;
}

std::string sha256_base64(std::string_view bytes) {
  const Digest digest = digest_of(bytes);
  std::array<unsigned char, 4 * ((EVP_MAX_MD_SIZE + 2) / 3) + 1> text{};
  const int size = EVP_EncodeBlock(text.data(), digest.bytes.data(), static_cast<int>(digest.size));
  return {text.begin(), text.begin() + size};
}

}  // namespace graphgate
