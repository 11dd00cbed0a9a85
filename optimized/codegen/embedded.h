// What graphgate_embed_text makes of the files that device text includes.
#pragma once

#include <cstddef>
#include <string_view>

namespace graphgate::optimized {

extern const std::string_view kDeviceTexts[];
extern const std::string_view kDeviceTextsNames[];
extern const std::size_t kDeviceTextsCount;

// And what the emulator has beside them, or in their places.
extern const std::string_view kEmulatedTexts[];
extern const std::string_view kEmulatedTextsNames[];
extern const std::size_t kEmulatedTextsCount;

}  // namespace graphgate::optimized
