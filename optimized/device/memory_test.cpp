#include "optimized/device/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "optimized/device/far_memory.h"

namespace graphgate::optimized {
namespace {

TEST(DeviceMemory, HasATwinForEveryKnownArenaAndGivesItBack) {
  FarMemory far;
  std::vector<std::byte> host(64);
  {
    DeviceMemory memory(far);
    memory.know(host, nullptr);
    EXPECT_EQ(memory.twin_of(host.data() + 8), memory.twin_of(host.data()) + 8);
    const auto before = memory.generation();
    memory.know({host.data() + 8, 8}, nullptr);  // inside: known already
    EXPECT_EQ(memory.generation(), before);
    const auto reserved = memory.reserve(100);
    EXPECT_NE(memory.generation(), before);
    EXPECT_EQ(far.arenas(), 2U);
    memory.forget(host.data());
    EXPECT_EQ(far.arenas(), 1U);
  }
  EXPECT_EQ(far.arenas(), 0U);
}

TEST(DeviceMemory, CopiesWhatIsNewerAndNothingElse) {
  FarMemory far;
  DeviceMemory memory(far);
  std::vector<std::byte> host(100, std::byte{1});
  memory.know(host, nullptr);
  memory.bring_to_device(host);
  EXPECT_EQ(memory.bytes_to_device(), 100);
  memory.bring_to_device(host);
  EXPECT_EQ(memory.bytes_to_device(), 100);
  memory.host_wrote({host.data() + 10, 5});
  memory.bring_to_device({host.data(), 12});
  EXPECT_EQ(memory.bytes_to_device(), 102);
  memory.device_wrote({host.data() + 50, 10});
  memory.bring_to_host(host);
  EXPECT_EQ(memory.bytes_to_host(), 10);
}

// Both sides are written anywhere, in any order, and a third memory is told of every write.
TEST(DeviceMemory, IsOneMemoryForBothSides) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    FarMemory far;
    DeviceMemory memory(far);
    std::vector<std::byte> host(97);
    std::vector<std::byte> truth(97);
    memory.know(host, nullptr);
    for (int step = 0; step < 60; ++step) {
      const std::size_t begin = random() % host.size();
      const std::size_t size = 1 + random() % (host.size() - begin);
      const std::span<std::byte> bytes(host.data() + begin, size);
      const auto fill = static_cast<std::byte>(random());
      auto* const twin = bytes_at(memory.twin_of(bytes.data()));
      switch (random() % 4) {
        case 0:
          std::fill(bytes.begin(), bytes.end(), fill);
          memory.host_wrote(bytes);
          std::fill_n(truth.begin() + static_cast<std::ptrdiff_t>(begin), size, fill);
          break;
        case 1:
          std::fill_n(twin, size, fill);
          memory.device_wrote(bytes);
          std::fill_n(truth.begin() + static_cast<std::ptrdiff_t>(begin), size, fill);
          break;
        case 2:
          memory.bring_to_host(bytes);
          ASSERT_EQ(std::memcmp(bytes.data(), truth.data() + begin, size), 0);
          break;
        default:
          memory.bring_to_device(bytes);
          ASSERT_EQ(std::memcmp(twin, truth.data() + begin, size), 0);
      }
    }
    memory.bring_to_host(host);
    EXPECT_TRUE(host == truth);
  }
}

}  // namespace
}  // namespace graphgate::optimized
