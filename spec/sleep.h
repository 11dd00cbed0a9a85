// What an engine gives back while it sleeps: words that scenarios, the harness and executors share.
//
// An engine that lends its GPU to somebody else gives memory back, and keeps its graphs and what it
// has compiled. vLLM calls it sleep mode. Level 1 keeps the contents of weights aside; level 2
// loses those of parameters, which the caller loads anew. What a KV cache holds is lost at both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace graphgate::spec {

struct SleepRequest {
  int level = 1;                         // 1 or 2
  std::vector<std::string> caches = {};  // buffers, by target, of whatever program: its KV cache
  friend bool operator==(const SleepRequest&, const SleepRequest&) = default;
};

// Memory that may come back before the rest does. Where runs compute comes back with either.
enum class SleepPart : std::uint8_t {
  kWeights,  // parameters, and the buffers that are no cache
  kCaches,
};

}  // namespace graphgate::spec
