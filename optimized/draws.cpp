#include "optimized/draws.h"

#include <utility>

namespace graphgate::optimized {
namespace {

thread_local std::uint64_t current_call = 0;
thread_local std::map<std::uint64_t, std::uint32_t> launches_of_call;  // by node
thread_local DrawSource current_source;

// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

// The upper and the lower half of a product of 64 bits.
std::pair<std::uint32_t, std::uint32_t> halves(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t product = std::uint64_t{a} * b;
  return {static_cast<std::uint32_t>(product >> 32U), static_cast<std::uint32_t>(product)};
}

}  // namespace

PhiloxWords philox(PhiloxWords counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint32_t kFirst = 0xD2511F53U;
  constexpr std::uint32_t kSecond = 0xCD9E8D57U;
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const auto [high0, low0] = halves(kFirst, counter[0]);
    const auto [high1, low1] = halves(kSecond, counter[2]);
    counter = {high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

DrawScope::DrawScope(std::uint64_t call)
    : call_before_(std::exchange(current_call, call)),
      launches_before_(std::exchange(launches_of_call, {})) {}

DrawScope::~DrawScope() {
  current_call = call_before_;
  launches_of_call = std::move(launches_before_);
}

DrawSourceScope::DrawSourceScope(std::string_view node)
    : before_(std::exchange(current_source, {hash_of(node)})) {}
DrawSourceScope::~DrawSourceScope() { current_source = before_; }

DrawSource draw_source() { return current_source; }

Draws::Draws(DrawSource source)
    : source_(source), call_(current_call), launch_(launches_of_call[source.node]++) {}

std::uint64_t Draws::bits(std::int64_t index, std::uint32_t which) const {
  const auto element = static_cast<std::uint64_t>(index);
  const PhiloxWords counter = {static_cast<std::uint32_t>(element),
                               static_cast<std::uint32_t>(element >> 32U) ^ (which << 24U), launch_,
                               static_cast<std::uint32_t>(call_)};
  const PhiloxWords words = philox(counter, {static_cast<std::uint32_t>(source_.node),
                                             static_cast<std::uint32_t>(source_.node >> 32U)});
  return std::uint64_t{words[1]} << 32U | words[0];
}

double Draws::uniform(std::int64_t index, std::uint32_t which) const {
  return static_cast<double>(bits(index, which) >> 11U) * 0x1p-53;
}

std::uint64_t Draws::below(std::uint64_t count, std::int64_t index) const {
  const std::uint64_t drawn = bits(index);
  if (count == 0) return drawn;
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(drawn) * count) >> 64U);
}

}  // namespace graphgate::optimized
