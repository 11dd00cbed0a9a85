#include "optimized/runtime/device/capture.h"

#include <algorithm>

#include "optimized/codegen/spelling.h"

namespace graphgate::optimized {
namespace {

std::string hex(std::uint64_t number) {
  std::string digits;
  for (; number != 0; number /= 16) digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
  return "0x" + (digits.empty() ? "0" : digits);
}

// Inside an arena, or right behind it.
bool is_at(const DeviceArena& arena, std::uint64_t address) {
  return address >= arena.address &&
         address <= arena.address + static_cast<std::uint64_t>(arena.size_bytes);
}

// Whether both are the same place of the same arena. An address between two neighbours is in both.
bool is_same_place(std::span<const DeviceArena> arenas, std::uint64_t address,
                   std::span<const DeviceArena> other_arenas, std::uint64_t other) {
  for (std::size_t i = 0; i < arenas.size(); ++i) {
    if (is_at(arenas[i], address) && other - other_arenas[i].address == address - arenas[i].address)
      return true;
  }
  return false;
}

// "0x7f0040, byte 64 of arena 2"; "0x7f0040, in no arena".
std::string place_of(std::span<const DeviceArena> arenas, std::uint64_t address) {
  const auto found =
      std::ranges::find_if(arenas, [&](const DeviceArena& arena) { return is_at(arena, address); });
  if (found == arenas.end()) return hex(address) + ", in no arena";
  return joined({hex(address), ", byte ", std::to_string(address - found->address), " of arena ",
                 std::to_string(found - arenas.begin())});
}

}  // namespace

std::optional<DeviceCapture> in_order_of(std::span<const CapturedKernel> calls,
                                         const DeviceCapture& capture) {
  if (capture.kernels.size() != calls.size()) return {};
  DeviceCapture out{{calls.begin(), calls.end()}, {}};
  std::vector<std::size_t> numbers;  // by kernel: of its call
  std::vector<bool> is_taken(calls.size());
  std::size_t first = 0;  // that is not taken
  for (const CapturedKernel& kernel : capture.kernels) {
    std::size_t c = first;
    while (c < calls.size() && (is_taken[c] || calls[c] != kernel)) ++c;
    if (c == calls.size()) return {};
    is_taken[c] = true;
    numbers.push_back(c);
    while (first < calls.size() && is_taken[first]) ++first;
  }
  for (const CapturedEdge& edge : capture.edges) {
    out.edges.push_back({numbers[edge.from], numbers[edge.to], edge.type});
  }
  std::ranges::sort(out.edges);
  return out;
}

std::string first_difference(const PlacedCapture& one, const PlacedCapture& other) {
  if (one.arenas.size() != other.arenas.size()) {
    return joined(
        {std::to_string(one.arenas.size()), " arenas and ", std::to_string(other.arenas.size())});
  }
  for (std::size_t i = 0; i < one.arenas.size(); ++i) {
    if (one.arenas[i].size_bytes == other.arenas[i].size_bytes) continue;
    return joined({"arena ", std::to_string(i), " has ", std::to_string(one.arenas[i].size_bytes),
                   " bytes and ", std::to_string(other.arenas[i].size_bytes)});
  }
  const auto& kernels = one.capture.kernels;
  const auto& others = other.capture.kernels;
  if (kernels.size() != others.size()) {
    return joined({std::to_string(kernels.size()), " kernels and ", std::to_string(others.size())});
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::string which = joined({"kernel ", std::to_string(k), " (", kernels[k].name, ")"});
    CapturedKernel shape = others[k];
    shape.arguments = kernels[k].arguments;
    if (shape != kernels[k]) return which + ": another function, grid, block, cluster or memory";
    if (others[k].arguments.size() != kernels[k].arguments.size()) {
      return which + ": another number of parameters";
    }
    for (std::size_t i = 0; i < kernels[k].arguments.size(); ++i) {
      const std::uint64_t address = kernels[k].arguments[i];
      const std::uint64_t beside = others[k].arguments[i];
      if (address == 0 && beside == 0) continue;  // a tensor without elements
      if (is_same_place(one.arenas, address, other.arenas, beside)) continue;
      return joined({which, ", parameter ", std::to_string(i), ": ", place_of(one.arenas, address),
                     ", and ", place_of(other.arenas, beside)});
    }
  }
  return one.capture.edges == other.capture.edges ? "" : "other edges between the kernels";
}

}  // namespace graphgate::optimized
