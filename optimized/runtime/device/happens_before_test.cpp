#include "optimized/runtime/device/happens_before.h"

#include <gtest/gtest.h>

#include "optimized/codegen/touched.h"

namespace graphgate::optimized {
namespace {

std::array<std::byte, 256> shared_bytes{};

Tensor bytes(std::int64_t begin, std::int64_t end) {
  return tensor_of_bytes(shared_bytes.data() + begin, end - begin);
}
DeviceCall call(std::vector<DeviceAccess> accesses) {
  DeviceCall out;
  out.name = "k";
  for (const DeviceAccess& access : accesses) out.pointers.push_back(access.tensor.data());
  out.accesses = std::move(accesses);
  return out;
}
DeviceAccess write(std::int64_t begin, std::int64_t end) { return {bytes(begin, end), true}; }
DeviceAccess read(std::int64_t begin, std::int64_t end) { return {bytes(begin, end), false}; }
DeviceAccess early(std::int64_t begin, std::int64_t end) {
  return {bytes(begin, end), false, true};
}

// "1 and 3: [64, 96)", from the first shared byte; "" where all is in order.
std::string disorder(const std::vector<DeviceCall>& calls, std::vector<CapturedEdge> edges,
                     bool kernels_wait = true) {
  DeviceCapture capture;
  capture.kernels.resize(calls.size());
  capture.edges = std::move(edges);
  const auto found = first_disorder(capture, calls, kernels_wait);
  if (!found) return "";
  std::string text = std::to_string(found->earlier) + " and " + std::to_string(found->later);
  if (!found->bytes) return text;
  const auto base = reinterpret_cast<std::intptr_t>(shared_bytes.data());
  return text + ": [" + std::to_string(found->bytes->begin - base) + ", " +
         std::to_string(found->bytes->end - base) + ")";
}

// a writes x; b and c read it; d writes it again.
const std::vector<DeviceCall> kReaders = {call({write(0, 64)}), call({read(0, 32), write(64, 96)}),
                                          call({read(16, 64), write(96, 128)}),
                                          call({write(0, 64), read(64, 128)})};

TEST(HappensBefore, HoldsWhereAPathOrdersWhatMeets) {
  EXPECT_EQ(disorder(kReaders, {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}}), "");
  EXPECT_EQ(disorder(kReaders, {{0, 1, 0}, {0, 2, 0}, {1, 3, 0}, {2, 3, 0}}), "");
}

TEST(HappensBefore, NamesTheFirstTwoThatNoPathOrdersAndTheirBytes) {
  EXPECT_EQ(disorder(kReaders, {{0, 1, 0}, {0, 2, 0}, {1, 3, 0}}), "2 and 3: [16, 64)");
  EXPECT_EQ(disorder(kReaders, {{0, 1, 0}, {1, 3, 0}, {2, 3, 0}}), "0 and 2: [16, 64)");
  EXPECT_EQ(disorder(kReaders, {}), "0 and 1: [0, 32)");
  EXPECT_EQ(disorder({call({write(0, 8)}), call({write(4, 12)})}, {}), "0 and 1: [4, 8)");
}

TEST(HappensBefore, LeavesFreeWhatOnlyReadsOrMeetsNowhere) {
  EXPECT_EQ(disorder({call({read(0, 64), write(64, 80)}), call({read(0, 64), write(80, 96)})}, {}),
            "");
  // Columns of one matrix.
  Tensor even = bytes(0, 64);
  even.sizes = {8, 4};
  even.strides = {8, 1};
  Tensor odd = even;
  odd.offset = 4;
  EXPECT_EQ(disorder({call({{even, true}}), call({{odd, true}})}, {}), "");
}

TEST(HappensBefore, HasWhatDoesNotTellInOrderWithAllOthers) {
  DeviceCall silent;
  const DeviceCall other = call({write(200, 208)});
  EXPECT_EQ(disorder({other, silent}, {}), "");  // it has no pointer to touch anything by
  silent.pointers = {shared_bytes.data()};
  EXPECT_EQ(disorder({other, silent}, {}), "0 and 1");
  EXPECT_EQ(disorder({silent, other}, {}), "0 and 1");
  EXPECT_EQ(disorder({other, silent, other}, {{0, 1, 0}, {1, 2, 0}}), "");
  // A pointer that is none of what it says to touch.
  silent = call({write(0, 8)});
  silent.pointers.push_back(shared_bytes.data() + 128);
  EXPECT_EQ(disorder({other, silent}, {}), "0 and 1");
  silent.pointers.back() = nullptr;  // a tensor without elements
  EXPECT_EQ(disorder({other, silent}, {}), "");
}

TEST(HappensBefore, TakesAProgrammaticEdgeForOrderWhereKernelsWaitThemselves) {
  const std::vector<CapturedEdge> chain = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}};
  EXPECT_EQ(disorder(kReaders, chain, true), "");
  EXPECT_EQ(disorder(kReaders, chain, false), "0 and 1: [0, 32)");
}

// A weight that is read before the kernel waits needs the end of whoever wrote it.
TEST(HappensBefore, TakesAProgrammaticEdgeForLittleWhereAKernelReadsEarly) {
  const std::vector<DeviceCall> calls = {call({write(0, 64)}), call({write(64, 96)}),
                                         call({early(0, 32), write(96, 128)})};
  EXPECT_EQ(disorder(calls, {{0, 1, 1}, {1, 2, 1}}), "0 and 2: [0, 32)");
  EXPECT_EQ(disorder(calls, {{0, 1, 1}, {1, 2, 0}}), "");
  EXPECT_EQ(disorder(calls, {{0, 1, 0}, {1, 2, 1}}), "");  // 1 has begun, so 0 has ended
  EXPECT_EQ(disorder(calls, {{0, 1, 0}, {0, 2, 1}}), "0 and 2: [0, 32)");
  // What comes behind it is behind its end in any case.
  EXPECT_EQ(disorder({calls[2], call({write(0, 64)})}, {{0, 1, 1}}), "");
}

}  // namespace
}  // namespace graphgate::optimized
