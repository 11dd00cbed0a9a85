// How much read_whole() (file_io.h) takes of a text.
#pragma once

#include <cstdint>

namespace graphgate {

// Sets it, instead of kMostTextBytes and half of the memory. For main(), before anything is read.
void limit_texts(std::int64_t most_bytes);

}  // namespace graphgate
