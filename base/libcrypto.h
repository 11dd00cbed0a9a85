// OpenSSL's library: it computes digests, and libzip asks it for random numbers.
#pragma once

namespace graphgate {

// Throws std::bad_alloc where libcrypto has no default context. To be called before whatever uses
// that: libcrypto 3.0 tells nobody that memory ended while it made one, and the first use crashes.
void require_libcrypto();

}  // namespace graphgate
