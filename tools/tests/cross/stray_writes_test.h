// A kernel that writes where it may not, put into every captured job on purpose.
#pragma once

#include <functional>

#include "base/result_test.h"
#include "optimized/optimized.h"
#include "optimized/runtime/device/device.h"
#include "tools/tests/cross/golden_models_test.h"

namespace graphgate {

// In front of a device with guarded memory. Each captured job begins with a kernel that writes to
// the first byte of a range of canaries: the how manieth, modulo their number.
class StrayWrites final : public optimized::Device {
 public:
  StrayWrites(std::shared_ptr<optimized::Device> device, std::size_t range)
      : device_(std::move(device)), range_(range) {}
  [[nodiscard]] std::string description() const override { return device_->description(); }
  [[nodiscard]] optimized::DeviceMemory& memory() override { return device_->memory(); }
  std::vector<std::unique_ptr<optimized::DeviceRun>> load(const optimized::DeviceProgramText& text,
                                                          std::span<const Job> jobs) override {
    optimized::DeviceProgramText with_strays = text;
    std::vector<Job> changed(jobs.begin(), jobs.end());
    for (Job& job : changed) {
      if (!job.is_captured || job.calls.empty()) continue;
      const auto strays = with_strays.add({stray_before(job.calls.back())});
      job.calls.insert(job.calls.begin(), strays.begin(), strays.end());
    }
    return device_->load(with_strays, changed);
  }
  void finish() override { device_->finish(); }
  // "byte 96 of", of the last one.
  [[nodiscard]] const std::string& byte() const { return byte_; }

 private:
  // The last call looks at canaries: its pointers are a table (canaries.h), a number, and arenas.
  optimized::TextWork stray_before(const optimized::DeviceCall& check) {
    EXPECT_EQ(check.what, "canaries");
    const auto* const words = reinterpret_cast<const std::int64_t*>(check.pointers.at(0));
    const std::int64_t* const range = words + 1 + 3 * (range_ % static_cast<std::size_t>(words[0]));
    byte_ = "byte " + std::to_string(range[1]) + " of ";
    return optimized::TextWork{
        .statements = "  if (thread == 0) p0[" + std::to_string(range[1]) + "] = 1;\n",
        .pointers = {check.pointers.at(2 + static_cast<std::size_t>(range[0]))},
        .threads = 1};
  }

  std::shared_ptr<optimized::Device> device_;
  const std::size_t range_;
  std::string byte_;
};

// The model writes its state, so that none of its pools is read-only: a stray write faults nowhere.
inline void expect_strays_are_told(
    const std::function<std::shared_ptr<optimized::Device>(optimized::DeviceMemoryMode)>& make) {
  const Model model = read_model(GRAPHGATE_GOLDEN_DIR "/models/mutations.pt2");
  using optimized::DeviceMemoryMode;
  for (const auto mode : {DeviceMemoryMode::kGuarded, DeviceMemoryMode::kGuardedFront}) {
    for (const std::size_t range : std::initializer_list<std::size_t>{0, 1, 3, 1000}) {
      const auto strays = std::make_shared<StrayWrites>(make(mode), range);
      optimized::Options options;
      options.device = strays;
      auto loaded = must(optimized::make_executor(options)->load(model.program));
      const auto result = loaded->call(model.calls.front().inputs);
      ASSERT_FALSE(result.ok()) << strays->byte();
      EXPECT_EQ(result.error().kind, ErrorKind::kInfrastructure);
      const std::string& said = result.error().message;
      EXPECT_TRUE(contains(said, "after partition 0 of @"));
      EXPECT_TRUE(contains(said, ": " + strays->byte() + "pool @"))
          << said << ", not " << strays->byte();
    }
  }
}

}  // namespace graphgate
