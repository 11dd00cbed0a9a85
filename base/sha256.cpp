#include "base/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <new>

namespace graphgate {
namespace {

struct Digest {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
};

// Returns SHA-256 out of a library context of our own. Throws std::bad_alloc. The default context
// tells of no failure: where memory ends while libcrypto 3.0 makes it, its first use crashes.
const EVP_MD* sha256() {
  struct Release {
    void operator()(OSSL_LIB_CTX* context) const { OSSL_LIB_CTX_free(context); }
    void operator()(EVP_MD* method) const { EVP_MD_free(method); }
  };
  struct Made {
    std::unique_ptr<OSSL_LIB_CTX, Release> context{OSSL_LIB_CTX_new()};
    std::unique_ptr<EVP_MD, Release> method{context ? EVP_MD_fetch(context.get(), "SHA256", nullptr)
                                                    : nullptr};
    Made() {
      if (!method) throw std::bad_alloc();
    }
  };
  static const Made made;
  return made.method.get();
}

Digest digest_of(std::string_view bytes) {
  Digest digest;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.bytes.data(), &digest.size, sha256(), nullptr);
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
