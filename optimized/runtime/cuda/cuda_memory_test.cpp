// Guarded memory over a driver of the test's own: where arenas lie, and what faults.
#include "optimized/runtime/cuda/cuda_memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "optimized/runtime/cuda/fake_driver_test.h"
#include "optimized/runtime/device/memory.h"

namespace graphgate::optimized::cuda {
namespace {

constexpr auto kEnd = DeviceMemoryMode::kGuarded;
constexpr auto kFront = DeviceMemoryMode::kGuardedFront;

// As a kernel does it.
void write(std::uint64_t address, int value) {
  *static_cast<volatile std::byte*>(FakeDriver::at(address)) = static_cast<std::byte>(value);
}
int read(std::uint64_t address) {
  return static_cast<int>(*static_cast<volatile std::byte*>(FakeDriver::at(address)));
}

TEST(GuardedMemory, PlacesEveryArenaAtAnEndOfItsPages) {
  const Driver driver = FakeDriver::make();
  KeptMemory kept(driver);
  for (const auto mode : {kEnd, kFront}) {
    const auto memory = make_cuda_memory(driver, 0, nullptr, kept, mode);
    for (const std::int64_t size :
         {std::int64_t{1}, std::int64_t{40}, std::int64_t{FakeDriver::kPageBytes},
          std::int64_t{FakeDriver::kPageBytes} * 3 + 17}) {
      const std::uint64_t address = memory->allocate(size);
      ASSERT_EQ(FakeDriver::instance().mapped.size(), 1U);
      const auto [first, bytes] = *FakeDriver::instance().mapped.begin();
      const auto behind = static_cast<std::int64_t>(first + bytes - address) - size;
      EXPECT_EQ(address % 16, 0U);
      EXPECT_GE(behind, 0);
      if (mode == kEnd) {
        EXPECT_LT(behind, 16) << size;
      } else {
        EXPECT_EQ(address, first) << size;
      }
      EXPECT_LT(bytes - static_cast<std::size_t>(size), FakeDriver::kPageBytes + 256);
      const DeviceSurroundings around = memory->surroundings(address);
      EXPECT_EQ(around.before, mode == kEnd ? 256 : 0);
      EXPECT_EQ(around.behind, mode == kEnd ? behind : 256);
      const auto [reserved, reserved_bytes] = *FakeDriver::instance().reserved.begin();
      EXPECT_EQ(reserved + FakeDriver::kPageBytes, first);
      EXPECT_EQ(reserved_bytes, bytes + 2 * FakeDriver::kPageBytes);
      memory->free(address);
      EXPECT_TRUE(FakeDriver::instance().mapped.empty());
      EXPECT_TRUE(FakeDriver::instance().reserved.empty());
      EXPECT_EQ(FakeDriver::instance().handles, 0U);
    }
  }
}

TEST(GuardedMemory, HoldsWhatIsCopiedThere) {
  const Driver driver = FakeDriver::make();
  KeptMemory kept(driver);
  const auto memory = make_cuda_memory(driver, 0, nullptr, kept, kEnd);
  const std::uint64_t address = memory->allocate(48);
  const std::vector<std::byte> bytes(48, std::byte{7});
  memory->to_device(address, bytes);
  std::vector<std::byte> back(48);
  memory->to_host(back, address);
  memory->arrive();
  EXPECT_EQ(back, bytes);
  memory->free(address);
}

TEST(GuardedMemory, GivesBackWhatItCouldNotFill) {
  const Driver driver = FakeDriver::make();
  KeptMemory kept(driver);
  const auto memory = make_cuda_memory(driver, 0, nullptr, kept, kEnd);
  FakeDriver::instance().has_memory = false;
  EXPECT_THROW((void)memory->allocate(10), DeviceError);
  EXPECT_TRUE(FakeDriver::instance().reserved.empty());
}

TEST(GuardedMemoryDeathTest, FaultsBehindAnArenaOrBeforeIt) {
  const Driver driver = FakeDriver::make();
  KeptMemory kept(driver);
  const auto end = make_cuda_memory(driver, 0, nullptr, kept, kEnd);
  const std::uint64_t at_end = end->allocate(32);
  write(at_end + 31, 1);
  EXPECT_DEATH(write(at_end + 32, 1), "");
  EXPECT_DEATH((void)read(at_end + 32), "");
  end->free(at_end);
  const auto front = make_cuda_memory(driver, 0, nullptr, kept, kFront);
  const std::uint64_t at_front = front->allocate(32);
  write(at_front, 1);
  EXPECT_DEATH(write(at_front - 1, 1), "");
  EXPECT_DEATH((void)read(at_front - 1), "");
  front->free(at_front);
}

// Through the twins of host memory, as the runtime does it: a host's write arrives, a kernel's
// does not.
TEST(GuardedMemoryDeathTest, FaultsAtWritesToWhatIsReadOnly) {
  const Driver driver = FakeDriver::make();
  KeptMemory kept(driver);
  const auto raw = make_cuda_memory(driver, 0, nullptr, kept, kEnd);
  EXPECT_EQ(raw->description(), "guarded behind every arena");
  DeviceMemory memory(*raw);
  std::vector<std::byte> weights(64, std::byte{1});
  memory.know(weights, nullptr);
  memory.bring_to_device(weights);
  memory.set_read_only(weights.data(), true);
  const std::uint64_t twin = memory.twin_of(weights.data());
  EXPECT_EQ(read(twin), 1);
  EXPECT_DEATH(write(twin, 9), "");
  weights[5] = std::byte{2};
  memory.host_wrote({weights.data() + 5, 1});
  const std::size_t waits = FakeDriver::instance().waits;
  memory.bring_to_device(weights);
  EXPECT_EQ(FakeDriver::instance().waits, waits + 2);  // for who reads the old, and for the copy
  EXPECT_EQ(read(twin + 5), 2);
  EXPECT_DEATH(write(twin, 9), "");
  memory.set_read_only(weights.data(), false);
  write(twin, 9);
  EXPECT_EQ(read(twin), 9);
}

TEST(GuardedMemory, LeavesWeightsWritableWhereTheDriverCannotProtectThemAndSaysSo) {
  const Driver driver = FakeDriver::make();
  KeptMemory kept(driver);
  FakeDriver::instance().maps_read_only = false;
  const auto memory = make_cuda_memory(driver, 0, nullptr, kept, kFront);
  EXPECT_EQ(memory->description(),
            "guarded before every arena; weights are writable: cuMemSetAccess: "
            "CUDA_ERROR_NOT_SUPPORTED (as the fake has it)");
  const std::uint64_t address = memory->allocate(16);
  memory->set_read_only(address, true);
  write(address, 1);
  EXPECT_EQ(read(address), 1);
  memory->free(address);
}

// Through pinned memory: one wait for all of them, and none where nothing was started.
TEST(PlainMemory, WaitsOnceForManyCopiesToTheHost) {
  const Driver driver = FakeDriver::make();
  KeptMemory kept(driver);
  const auto memory = make_cuda_memory(driver, 0, nullptr, kept, DeviceMemoryMode::kPlain);
  constexpr std::size_t kSizes[] = {3, 40, kPinnedBytes - 4096, 8000,
                                    17};  // the fourth has no room
  std::vector<std::uint64_t> addresses;
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> back;
  for (const std::size_t size : kSizes) {
    addresses.push_back(memory->allocate(static_cast<std::int64_t>(size)));
    sent.emplace_back(size, static_cast<std::byte>(size % 251));
    memory->to_device(addresses.back(), sent.back());
    back.emplace_back(size);
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < back.size(); ++i) {
      std::fill(back[i].begin(), back[i].end(), std::byte{0});
      memory->to_host(back[i], addresses[i]);
      EXPECT_NE(back[i], sent[i]);
    }
    const std::size_t waits = FakeDriver::instance().waits;
    memory->arrive();
    memory->arrive();
    EXPECT_EQ(FakeDriver::instance().waits, waits + 1);
    EXPECT_EQ(back, sent);
  }
  for (const std::uint64_t address : addresses) memory->free(address);
}

// Where the device is lost, nothing arrives later in memory that is somebody else's by then.
TEST(PlainMemory, ForgetsCopiesThatFailed) {
  const Driver driver = FakeDriver::make();
  KeptMemory kept(driver);
  const auto memory = make_cuda_memory(driver, 0, nullptr, kept, DeviceMemoryMode::kPlain);
  const std::uint64_t address = memory->allocate(8);
  std::vector<std::byte> back(8, std::byte{5});
  memory->to_host(back, address);
  FakeDriver::instance().waiting_gives = CUDA_ERROR_ILLEGAL_ADDRESS;
  EXPECT_THROW(memory->arrive(), DeviceError);
  FakeDriver::instance().waiting_gives = CUDA_SUCCESS;
  memory->arrive();
  EXPECT_EQ(back, std::vector<std::byte>(8, std::byte{5}));
  memory->free(address);
}

TEST(KeptMemory, HandsOutWhatWasGivenBackByItsExactSize) {
  const Driver driver = FakeDriver::make();
  KeptMemory kept(driver);
  std::uint64_t first = 0;
  {
    const auto memory = make_cuda_memory(driver, 0, nullptr, kept, DeviceMemoryMode::kPlain);
    first = memory->allocate(100);
    const std::size_t waits = FakeDriver::instance().waits;
    memory->free(first);
    EXPECT_EQ(FakeDriver::instance().waits, waits + 1);  // for who may still use it
  }
  const auto other = make_cuda_memory(driver, 0, nullptr, kept, DeviceMemoryMode::kPlain);
  const std::uint64_t smaller = other->allocate(96);
  EXPECT_NE(smaller, first);
  EXPECT_EQ(other->allocate(100), first);
  const std::uint64_t second = other->allocate(100);
  EXPECT_NE(second, first);
  EXPECT_EQ(FakeDriver::instance().allocations, 3U);
  // Large ones go back to the driver.
  const std::uint64_t large = other->allocate(std::int64_t{2} << 20);
  EXPECT_EQ(FakeDriver::instance().allocated.size(), 4U);
  other->free(large);
  EXPECT_EQ(FakeDriver::instance().allocated.size(), 3U);
  for (const std::uint64_t address : {smaller, first, second}) other->free(address);
  EXPECT_EQ(FakeDriver::instance().allocated.size(), 3U);
}

TEST(Driver, SaysThatAKernelTouchedWhatIsNotThere) {
  const Driver driver = FakeDriver::make();
  try {
    driver.check(CUDA_ERROR_ILLEGAL_ADDRESS, "cuStreamSynchronize");
    FAIL() << "nothing was said";
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("a kernel touched memory that is not there"), 0U) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace graphgate::optimized::cuda
