#include "optimized/runtime/device/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "optimized/runtime/device/device.h"
#include "optimized/runtime/device/far_memory.h"
#include "optimized/runtime/device/recorded_twins.h"

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

// The same place may come to be known anew, or no more: launches that have its twin must not run.
TEST(RecordedTwins, AreComparedWhenArenasHaveComeOrGone) {
  FarMemory far;
  DeviceMemory memory(far);
  std::vector<std::byte> host(64);
  std::vector<std::byte> other(64);
  memory.know({host.data(), 16}, nullptr);
  RecordedTwins twins(memory);
  EXPECT_EQ(twins.note(nullptr), 0U);
  EXPECT_EQ(twins.note(host.data() + 4), memory.twin_of(host.data() + 4));
  EXPECT_EQ(twins.note(host.data() + 16), memory.twin_of(host.data() + 16)) << "right behind it";
  twins.check();
  memory.know(other, nullptr);
  twins.check();
  memory.forget(other.data());
  twins.check();
  memory.know(host, nullptr);  // more of it
  EXPECT_THROW(twins.check(), DeviceError);
  EXPECT_THROW(twins.check(), DeviceError);
  RecordedTwins again(memory);
  again.note(host.data() + 4);
  again.check();
  memory.forget(host.data());
  EXPECT_THROW(again.check(), DeviceError);
}

// Addresses of a program: 128 TiB. What a device refuses takes none of them.
TEST(DeviceMemory, KeepsNoAddressesWhereTheDeviceHasNoMemory) {
  class Full : public FarMemory {
   public:
    std::uint64_t allocate(std::int64_t /*size_bytes*/) override {
      throw std::runtime_error("full");
    }
  };
  Full full;
  DeviceMemory memory(full);
  for (int i = 0; i < 200; ++i) {
    EXPECT_THROW((void)memory.reserve(std::int64_t{1} << 40), std::runtime_error) << i;
  }
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

TEST(DeviceMemory, FindsRangesOnceAndAgainWhenArenasComeAndGo) {
  FarMemory far;
  DeviceMemory memory(far);
  std::vector<std::byte> host(100, std::byte{1});
  std::vector<std::byte> other(10);
  memory.know(host, nullptr);
  const auto part = [&](std::size_t begin, std::size_t end) {
    return std::span(host).subspan(begin, end - begin);
  };
  DeviceMemory::Ranges ranges({part(60, 70), part(10, 20), part(20, 25), part(15, 22), {}});
  memory.bring_to_device(ranges);
  EXPECT_EQ(memory.bytes_to_device(), 25);
  memory.bring_to_device(ranges);
  EXPECT_EQ(memory.bytes_to_device(), 25);
  // The arena goes, and comes back at the same place: all of it is newer on the host.
  memory.forget(host.data());
  memory.know(other, nullptr);
  memory.know(host, nullptr);
  memory.bring_to_device(ranges);
  EXPECT_EQ(memory.bytes_to_device(), 50);
  memory.device_wrote(ranges);
  memory.bring_to_host(host);
  EXPECT_EQ(memory.bytes_to_host(), 25);
}

// Both sides are written anywhere, in any order, and a third memory is told of every write; one
// range at a time, or two.
TEST(DeviceMemory, IsOneMemoryForBothSides) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    FarMemory far;
    DeviceMemory memory(far);
    std::vector<std::byte> host(97);
    std::vector<std::byte> truth(97);
    memory.know(host, nullptr);
    for (int step = 0; step < 60; ++step) {
      std::vector<std::span<std::byte>> all;
      for (int i = 0; i < 1 + step % 2; ++i) {
        const std::size_t begin = random() % host.size();
        all.emplace_back(host.data() + begin, 1 + random() % (host.size() - begin));
      }
      DeviceMemory::Ranges ranges(all);
      const auto fill = static_cast<std::byte>(random());
      const auto twin = [&](std::span<std::byte> bytes) {
        return bytes_at(memory.twin_of(bytes.data()));
      };
      const auto true_bytes = [&](std::span<std::byte> bytes) {
        return truth.data() + (bytes.data() - host.data());
      };
      const unsigned what = random() % 4;
      for (const auto bytes : all) {
        if (what < 2) std::fill_n(what == 0 ? bytes.data() : twin(bytes), bytes.size(), fill);
        if (what < 2) std::fill_n(true_bytes(bytes), bytes.size(), fill);
      }
      const bool is_one = all.size() == 1;
      switch (what) {
        case 0:
          is_one ? memory.host_wrote(all[0]) : memory.host_wrote(ranges);
          break;
        case 1:
          is_one ? memory.device_wrote(all[0]) : memory.device_wrote(ranges);
          break;
        case 2:
          is_one ? memory.bring_to_host(all[0]) : memory.bring_to_host(ranges);
          break;
        default:
          is_one ? memory.bring_to_device(all[0]) : memory.bring_to_device(ranges);
      }
      for (const auto bytes : all) {
        const std::byte* const actual = what == 2 ? bytes.data() : twin(bytes);
        if (what < 2) continue;
        ASSERT_EQ(std::memcmp(actual, true_bytes(bytes), bytes.size()), 0);
      }
    }
    memory.bring_to_host(host);
    EXPECT_TRUE(host == truth);
  }
}

}  // namespace
}  // namespace graphgate::optimized
