// Canaries, looked at by their kernel on the emulator: bytes that nobody may write, and kernels
// that write there on purpose.
#include "optimized/runtime/device/canaries.h"

#include <gtest/gtest.h>

#include <numeric>

#include "optimized/runtime/emulated/emulated_device.h"

namespace graphgate::optimized::emulated {
namespace {

constexpr auto kAtEnd = DeviceMemoryMode::kGuarded;
constexpr auto kAtFront = DeviceMemoryMode::kGuardedFront;

std::string text_of(const std::vector<CanaryRange>& ranges) {
  std::string text;
  for (const CanaryRange& range : ranges) {
    text += "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
  }
  return text;
}

TEST(Canaries, StandWhereNoBufferLies) {
  EXPECT_EQ(text_of(gaps_between({}, 100)), "[0, 100)");
  EXPECT_EQ(text_of(gaps_between({{0, 100}}, 100)), "");
  EXPECT_EQ(text_of(gaps_between({{64, 80}, {0, 30}}, 100)), "[30, 64)[80, 100)");
  // Over one another, and one inside of another.
  EXPECT_EQ(text_of(gaps_between({{0, 50}, {10, 20}, {40, 60}, {70, 70}}, 100)), "[60, 100)");
}

// Two arenas before a device of their own: 600 bytes with a buffer of 100 and one of 44, and 40
// bytes without a gap. Two jobs: one that writes, and one that does nothing but look.
class Watched {
 public:
  explicit Watched(DeviceMemoryMode mode, const std::string& statement)
      : device_(make_emulated_device(mode).value()) {
    device_->memory().know(first_, nullptr);
    device_->memory().know(second_, nullptr);
    canaries_.emplace(device_->memory(),
                      std::vector<CanaryArena>{{first_, gaps_between({{0, 100}, {556, 600}}, 600)},
                                               {second_, {}}},
                      2);
    TextWork stray{.statements = "  if (thread == 5) { " + statement + " }\n",
                   .pointers = {first_.data(), second_.data()},
                   .threads = 32};
    DeviceProgramText text;
    const std::vector<Device::Job> jobs = {{text.add({stray, canaries_->check(0)}), true},
                                           {text.add({canaries_->check(1)}), true}};
    runs_ = device_->load(text, jobs);
  }
  // What a run of the jobs says: "" or the words of a broken canary.
  std::string run(std::size_t first_job = 0) {
    canaries_->fill();
    for (std::size_t job = first_job; job < runs_.size(); ++job) runs_[job]->launch();
    try {
      device_->finish();
    } catch (const BrokenCanary& broken) {
      return "job " + std::to_string(broken.job) + ": " + std::to_string(broken.arena) + "[" +
             std::to_string(broken.byte) + "]";
    }
    return "";
  }

 private:
  std::vector<std::byte> first_ = std::vector<std::byte>(600);
  std::vector<std::byte> second_ = std::vector<std::byte>(40);
  std::shared_ptr<Device> device_;
  std::optional<Canaries> canaries_;
  std::vector<std::unique_ptr<DeviceRun>> runs_;
};

TEST(Canaries, TellTheFirstByteThatWasWritten) {
  struct Case {
    DeviceMemoryMode mode;
    const char* statement;
    const char* said;
  };
  const Case kCases[] = {
      // Buffers may be written, and canaries as they are.
      {kAtEnd, "p0[0] = 1; p0[99] = 1; p0[556] = 1; p0[599] = 1; p1[0] = 1; p1[39] = 1;", ""},
      {kAtEnd, "p0[100] = static_cast<char>(0xc5);", ""},
      // Ends of a gap, and of the parts that threads look at.
      {kAtEnd, "p0[100] = 1;", "job 0: 0[100]"},
      {kAtEnd, "p0[355] = 1;", "job 0: 0[355]"},
      {kAtEnd, "p0[356] = 1;", "job 0: 0[356]"},
      {kAtEnd, "p0[555] = 1;", "job 0: 0[555]"},
      // Of several the first: of one part, of several, of both arenas.
      {kAtEnd, "p0[222] = 1; p0[220] = 1;", "job 0: 0[220]"},
      {kAtEnd, "p0[500] = 1; p0[120] = 1;", "job 0: 0[120]"},
      {kAtEnd, "p1[-1] = 1; p0[500] = 1;", "job 0: 0[500]"},
      // Around an arena, where nothing faults.
      {kAtEnd, "p0[-1] = 1;", "job 0: 0[-1]"},
      {kAtEnd, "p0[-256] = 1;", "job 0: 0[-256]"},
      {kAtEnd, "p0[600] = 1;", "job 0: 0[600]"},
      {kAtEnd, "p1[47] = 1;", "job 0: 1[47]"},
      {kAtEnd, "p1[-256] = 1;", "job 0: 1[-256]"},
      {kAtFront, "p0[600] = 1;", "job 0: 0[600]"},
      {kAtFront, "p0[855] = 1;", "job 0: 0[855]"},
      {kAtFront, "p1[40] = 1;", "job 0: 1[40]"},
      {kAtFront, "p0[300] = 1;", "job 0: 0[300]"},
  };
  for (const Case& one : kCases) {
    Watched watched(one.mode, one.statement);
    EXPECT_EQ(watched.run(), one.said) << one.statement;
    EXPECT_EQ(watched.run(1), "") << one.statement;  // filled anew, and said once
    EXPECT_EQ(watched.run(), one.said) << one.statement;
  }
}

}  // namespace
}  // namespace graphgate::optimized::emulated
