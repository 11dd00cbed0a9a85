#include "optimized/runtime/device/happens_before.h"

#include <algorithm>

#include "optimized/codegen/touched.h"

namespace graphgate::optimized {
namespace {

using CallSet = std::vector<bool>;  // by call

void add_all(CallSet& to, const CallSet& from) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = to[i] || from[i];
}

// By call: those that have ended before it begins, and before it touches what others make.
struct Ended {
  std::vector<CallSet> at_begin;
  std::vector<CallSet> at_wait;
};

Ended ended(const DeviceCapture& capture, bool kernels_wait) {
  const std::size_t count = capture.kernels.size();
  Ended out{std::vector(count, CallSet(count)), std::vector(count, CallSet(count))};
  std::vector<CapturedEdge> edges = capture.edges;
  std::ranges::sort(edges,
                    [](const CapturedEdge& a, const CapturedEdge& b) { return a.to < b.to; });
  for (const CapturedEdge& edge : edges) {
    const bool is_full = edge.type == 0;
    if (!is_full && !kernels_wait) continue;
    CallSet behind = out.at_wait[edge.from];
    behind[edge.from] = true;
    add_all(out.at_wait[edge.to], behind);
    add_all(out.at_begin[edge.to], is_full ? behind : out.at_begin[edge.from]);
  }
  return out;
}

struct Touch {
  explicit Touch(const DeviceCall& call)
      : all(tells_all(call) ? std::span(call.accesses) : std::span<const DeviceAccess>()),
        is_nothing(call.pointers.empty()) {
    std::vector<DeviceAccess> reads;
    std::copy_if(call.accesses.begin(), call.accesses.end(), std::back_inserter(reads),
                 [](const DeviceAccess& access) { return access.is_early; });
    if (!reads.empty()) early.emplace(reads);
  }
  Touched all;
  std::optional<Touched> early;
  bool is_nothing;
};

}  // namespace

bool tells_all(const DeviceCall& call) {
  return std::ranges::all_of(call.pointers, [&](const std::byte* pointer) {
    return pointer == nullptr ||
           std::ranges::any_of(call.accesses, [&](const DeviceAccess& access) {
             return access.tensor.data() == pointer;
           });
  });
}

std::optional<Disorder> first_disorder(const DeviceCapture& capture,
                                       std::span<const DeviceCall> calls, bool kernels_wait) {
  const Ended before = ended(capture, kernels_wait);
  std::vector<Touch> touches;
  touches.reserve(calls.size());
  for (std::size_t later = 0; later < calls.size(); ++later) {
    const Touch& own = touches.emplace_back(calls[later]);
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      if (own.is_nothing || touches[earlier].is_nothing) continue;
      const Touched& other = touches[earlier].all;
      const bool is_behind = before.at_wait[later][earlier];
      if (!is_behind && other.keeps_order_with(own.all)) {
        return Disorder{earlier, later, other.bytes_in_order_with(own.all)};
      }
      const bool begins_behind = !own.early || before.at_begin[later][earlier];
      if (!begins_behind && other.keeps_order_with(*own.early)) {
        return Disorder{earlier, later, other.bytes_in_order_with(*own.early)};
      }
    }
  }
  return {};
}

}  // namespace graphgate::optimized
