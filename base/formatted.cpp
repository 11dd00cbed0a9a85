#include "base/formatted.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace graphgate {

std::string formatted(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  char* text = nullptr;
  const int size = ::vasprintf(&text, format, arguments);
  va_end(arguments);
  std::string out = size < 0 ? "" : text;
  if (size >= 0) std::free(text);
  return out;
}

}  // namespace graphgate
