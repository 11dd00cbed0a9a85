// The files of this folder that the build embeds (cmake/embed_text.cmake): upstream_data.json, then
// vllm_overrides.json.
#pragma once

#include <cstddef>
#include <string_view>

namespace graphgate::optimized {

extern const std::string_view kUpstreamTexts[];
extern const std::string_view kUpstreamTextsNames[];
extern const std::size_t kUpstreamTextsCount;

}  // namespace graphgate::optimized
