#include "optimized/runtime/device/recorded_twins.h"

#include "optimized/runtime/device/device.h"

namespace graphgate::optimized {

std::uint64_t RecordedTwins::note(const std::byte* host) {
  const std::uint64_t twin = memory_->twin_of(host);
  if (host != nullptr) twins_.emplace(host, twin);
  generation_ = memory_->generation();
  return twin;
}

void RecordedTwins::check() {
  if (generation_ == memory_->generation()) return;
  for (const auto& [host, twin] : twins_) {
    if (memory_->twin_of(std::span(host, 0)) == twin) continue;
    throw DeviceError(
        "a recorded address has moved: what was captured there must be recorded "
        "anew");
  }
  generation_ = memory_->generation();
}

}  // namespace graphgate::optimized
