// Keeps what a device has captured, for tests that hold two captures of a plan side by side.
#pragma once

#include <gtest/gtest.h>

#include "optimized/runtime/device/device.h"

namespace graphgate {

class CaptureKeeper final : public optimized::Device {
 public:
  struct Kept {
    std::string what;
    optimized::DeviceCapture capture;
    std::vector<optimized::DeviceArena> arenas;  // when it was captured
  };
  explicit CaptureKeeper(std::shared_ptr<optimized::Device> device) : device_(std::move(device)) {}
  [[nodiscard]] std::string description() const override { return device_->description(); }
  [[nodiscard]] optimized::DeviceMemory& memory() override { return device_->memory(); }
  [[nodiscard]] std::vector<optimized::DeviceArena> arenas() override { return device_->arenas(); }
  std::vector<std::unique_ptr<optimized::DeviceRun>> load(const optimized::DeviceProgramText& text,
                                                          std::span<const Job> jobs) override {
    auto runs = device_->load(text, jobs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      optimized::DeviceCapture capture = runs[i]->captured();
      if (!capture.kernels.empty()) kept_.push_back({jobs[i].what, std::move(capture), arenas()});
    }
    return runs;
  }
  void finish() override { device_->finish(); }
  [[nodiscard]] const std::vector<Kept>& kept() const { return kept_; }

 private:
  std::shared_ptr<optimized::Device> device_;
  std::vector<Kept> kept_;
};

// Two devices that the same calls were run on, both still there: their captures differ by where
// arenas lie, which is elsewhere, and by nothing else.
inline void expect_same_captures(const CaptureKeeper& one, const CaptureKeeper& other,
                                 const std::string& how) {
  ASSERT_EQ(one.kept().size(), other.kept().size()) << how;
  EXPECT_FALSE(one.kept().empty()) << how;
  for (std::size_t i = 0; i < one.kept().size(); ++i) {
    const CaptureKeeper::Kept& a = one.kept()[i];
    const CaptureKeeper::Kept& b = other.kept()[i];
    EXPECT_EQ(a.what, b.what) << how;
    EXPECT_EQ(optimized::first_difference({a.capture, a.arenas}, {b.capture, b.arenas}), "")
        << how << ", " << a.what;
    ASSERT_EQ(a.arenas.size(), b.arenas.size()) << how;
    for (std::size_t n = 0; n < a.arenas.size(); ++n) {
      EXPECT_NE(a.arenas[n].address, b.arenas[n].address) << how << ", arena " << n;
    }
  }
}

}  // namespace graphgate
