#include "base/libcrypto.h"

#include <openssl/crypto.h>

#include <new>

namespace graphgate {

void require_libcrypto() {
  // With null it changes nothing, and returns the context that there is.
  if (OSSL_LIB_CTX_set0_default(nullptr) == nullptr) throw std::bad_alloc();
}

}  // namespace graphgate
