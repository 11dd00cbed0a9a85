// Works over a small memory, one after the other, joined, and spread over streams: the bytes are
// the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <utility>

#include "optimized/codegen/cells_text.h"
#include "optimized/codegen/copy_work.h"
#include "optimized/codegen/fast_text.h"
#include "optimized/codegen/join_works.h"
#include "optimized/codegen/touched.h"
#include "optimized/runtime/device/call_order.h"
#include "optimized/runtime/emulated/emulated_device.h"

namespace graphgate::optimized::emulated {
namespace {

using spec::DType;

constexpr std::size_t kBytes = 1024;  // that anybody may read afterwards
constexpr std::size_t kInner = 256;   // behind them: that only works read
constexpr std::size_t kIndices = 8;   // behind all: that nobody writes

// Draws works over one memory, and products where arithmetic is fast.
class Draws {
 public:
  Draws(unsigned seed, bool is_fast)
      : is_fast_(is_fast), random_(seed), memory_(kBytes + kInner + kIndices * 8) {
    // Among the numbers are NaNs, whose bits copies keep.
    for (std::byte& byte : memory_) byte = static_cast<std::byte>(one_in(4) ? 127 : below(256));
    // Rows of a tensor of four.
    for (std::size_t i = 0; i < kIndices; ++i) {
      const std::int64_t index = below(4);
      std::memcpy(memory_.data() + kBytes + kInner + 8 * i, &index, sizeof index);
    }
  }

  [[nodiscard]] const std::vector<std::byte>& memory() const { return memory_; }
  std::span<std::byte> bytes() { return memory_; }

  DeviceWorks works(int count) {
    DeviceWorks out;
    while (std::ssize(out) < count) {
      if (auto work = drawn(out)) out.push_back(std::move(*work));
    }
    return out;
  }

 private:
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(end));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }

  Tensor tensor(DType dtype, const Sizes& sizes) {
    Tensor out{.dtype = dtype, .sizes = sizes, .strides = row_major_strides(sizes)};
    if (sizes.size() == 2 && one_in(2)) out.strides[0] *= 2;  // halves of rows
    // Few places, so that works often meet, and on any element now and then.
    const std::int64_t reach = byte_range(out).end;
    const bool is_inner = one_in(5);
    const auto room = static_cast<std::int64_t>(is_inner ? kInner : kBytes) - reach;
    const std::int64_t step = one_in(6) ? out.item_bytes() : 32;
    const std::int64_t at = below(room / step + 1) * step;
    out.bytes = memory_.data() + (is_inner ? kBytes : 0) + at;
    return out;
  }

  // Often what an earlier work has written, or half of it.
  Tensor operand(DType dtype, const Sizes& sizes, const DeviceWorks& before) {
    if (!made_.empty() && spec::item_size_bytes(dtype) == 2 && !one_in(3)) {
      Tensor out = made_.back();
      out.dtype = dtype;
      if (out.sizes == sizes) return out;
      // Halves of heads: of two, or of the second one.
      if (sizes.size() == 3) {
        out.sizes = sizes;
        out.strides = {out.strides[0], 4, 1};
        out.offset += (sizes[1] == 1 ? 4 : 0) + (one_in(2) ? 0 : 2);
        return out;
      }
      out.sizes[1] /= 2;
      out.offset += one_in(2) ? 0 : out.sizes[1];
      if (out.sizes == sizes) return out;
    }
    for (int attempt = 0; attempt < 3 && !before.empty() && !one_in(3); ++attempt) {
      const auto at = static_cast<std::size_t>(below(std::ssize(before)));
      const auto* work = std::get_if<PointwiseWork>(&before[before.size() - 1 - at / 2]);
      if (work == nullptr || work->result.sizes != sizes) continue;
      Tensor out = work->result;
      if (out.item_bytes() != spec::item_size_bytes(dtype)) continue;
      out.dtype = dtype;
      return out;
    }
    return tensor(dtype, sizes);
  }

  // Whether threads of the work alone do not get in each other's way.
  static bool is_fit(const PointwiseWork& work) {
    return std::all_of(
        work.operands.begin(), work.operands.end(), [&](const DeviceOperand& operand) {
          const bool is_same = operand.tensor.bytes == work.result.bytes &&
                               operand.tensor.strides == work.result.strides &&
                               operand.tensor.item_bytes() == work.result.item_bytes();
          return is_same || !may_share_bytes(operand.tensor, work.result);
        });
  }

  bool is_inner(const Tensor& tensor) const { return tensor.bytes >= memory_.data() + kBytes; }

  std::optional<DeviceWork> drawn(const DeviceWorks& before) {
    if (one_in(8)) return one_in(2) ? cells() : cells_of_one(before);
    if (is_fast_ && one_in(3)) return product();
    constexpr std::array<DType, 5> kDtypes = {DType::kFloat32, DType::kInt32, DType::kBFloat16,
                                              DType::kInt16, DType::kUInt8};
    const std::array<Sizes, 4> shapes = {Sizes{4, 4}, Sizes{16}, Sizes{4, 8}, Sizes{2, 4}};
    const bool follows = std::exchange(is_behind_product_, false) && !one_in(3);
    const DType dtype =
        follows ? DType::kBFloat16 : kDtypes.at(static_cast<std::size_t>(below(kDtypes.size())));
    const std::array<Sizes, 4> behind = {Sizes{4, 4}, Sizes{4, 8}, Sizes{4, 2, 2}, Sizes{4, 1, 2}};
    const Sizes sizes =
        (follows ? behind : shapes).at(static_cast<std::size_t>(below(shapes.size())));
    if (one_in(3)) {
      PointwiseWork copy = copy_work(tensor(dtype, sizes), operand(dtype, sizes, before));
      copy.is_inner = is_inner(copy.result);
      if (!is_fit(copy)) return {};
      return copy;
    }
    const DType compute = spec::is_floating_point(dtype) ? DType::kFloat32 : DType::kInt64;
    PointwiseWork work{tensor(dtype, sizes), dtype, compute, "element::Multiply{}", {}, false};
    for (int i = 0; i < 2; ++i) {
      work.operands.push_back({operand(dtype, sizes, before), dtype, false, 0});
    }
    work.is_inner = is_inner(work.result);
    if (!is_fit(work)) return {};
    return work;
  }

  // Rows of a tensor of four, moved by indices; sometimes it does not tell.
  std::optional<DeviceWork> cells() {
    Tensor all = tensor(DType::kInt32, {4, 4});
    const Tensor rows = tensor(DType::kInt32, {2, 4});
    if (may_share_bytes(all, rows)) return {};
    Tensor index{.dtype = DType::kInt64,
                 .sizes = {2, 1},
                 .strides = {1, 1},
                 .bytes = memory_.data() + kBytes + kInner + 8 * below(kIndices - 1)};
    const IndexedDim dim = indexed_dim(all, 0, index, false);
    all.sizes[0] = 2;
    all.strides[0] = 0;
    const IndexedCells parts{{2, 4}, all, {rows}, {dim}};
    TextWork work = one_in(2) ? read_cells_text(parts, 4) : write_cells_text(parts, 4);
    if (one_in(4)) work.accesses.clear();
    return work;
  }

  // All of what an earlier work has made, or half of it, goes into one of four places.
  std::optional<DeviceWork> cells_of_one(const DeviceWorks& before) {
    const DType dtype = one_in(2) ? DType::kInt32 : DType::kInt16;
    const std::array<Sizes, 3> shapes = {Sizes{2, 4}, Sizes{2, 8}, Sizes{4, 4}};
    Tensor source =
        operand(dtype, shapes.at(static_cast<std::size_t>(below(shapes.size()))), before);
    const std::int64_t row = source.sizes[1];
    source.sizes = {1, source.sizes[0], row};
    source.strides.insert(source.strides.begin(), 0);
    Tensor all = tensor(dtype, {4, source.sizes[1], row});
    if (may_share_bytes(all, source)) return {};
    Tensor index{.dtype = DType::kInt64,
                 .sizes = {1, 1, 1},
                 .strides = {0, 0, 0},
                 .bytes = memory_.data() + kBytes + kInner + 8 * below(kIndices)};
    const IndexedDim dim = indexed_dim(all, 0, index, false);
    all.sizes[0] = 1;
    all.strides[0] = 0;
    return write_cells_text({source.sizes, all, {source}, {dim}}, all.item_bytes());
  }

  std::optional<DeviceWork> product() {
    Product product;
    product.rounds_to = DType::kBFloat16;
    product.result = tensor(product.rounds_to, {4, 8});
    product.a = tensor(product.rounds_to, {4, 8});
    product.b = swapped(tensor(product.rounds_to, {8, 8}), 0, 1);
    for (const Tensor& operand : {product.a, product.b}) {
      if (may_share_bytes(product.result, operand)) return {};
    }
    const DeviceListener listener([](std::int64_t) { return nullptr; },
                                  [](const Tensor&) { return false; });
    auto works = fast_product_works(listener, product);
    if (!works) return {};
    made_.push_back(product.result);
    is_behind_product_ = true;
    return std::move(works->front());
  }

  bool is_fast_;
  std::mt19937 random_;
  std::vector<std::byte> memory_;
  std::vector<Tensor> made_;  // by products
  bool is_behind_product_ = false;
};

// What a job leaves of the memory that it begins with.
std::vector<std::byte> run(Device& device, DeviceRun& job, Draws& draws) {
  const std::vector<std::byte> before = draws.memory();
  device.memory().host_wrote(draws.bytes());
  device.memory().bring_to_device(draws.bytes());
  job.launch();
  device.memory().device_wrote(draws.bytes());
  device.finish();
  device.memory().bring_to_host(draws.bytes());
  std::vector<std::byte> after = draws.memory();
  std::copy(before.begin(), before.end(), draws.bytes().begin());
  after.resize(kBytes);
  return after;
}

void expect_equal_bytes(bool is_fast, unsigned first_seed, unsigned seeds) {
  const auto device = make_emulated_device().value();
  DeviceProgramText text(is_fast);
  std::vector<std::unique_ptr<Draws>> draws;
  std::vector<Device::Job> jobs;
  std::size_t alone = 0;
  std::size_t joined = 0;
  std::size_t ends = 0;   // products with works behind them
  std::size_t moves = 0;  // and what puts elements that it makes into cells
  for (unsigned seed = first_seed; seed < first_seed + seeds; ++seed) {
    draws.push_back(std::make_unique<Draws>(seed, is_fast));
    const DeviceWorks works = draws.back()->works(14);
    jobs.push_back({text.add(works), true});
    jobs.push_back({text.add(join_works(works)), true});
    for (const DeviceCall& call : jobs.back().calls) {
      ends += static_cast<std::size_t>(call.what.starts_with("product") &&
                                       call.what.find(',') != std::string::npos);
      moves += static_cast<std::size_t>(call.what.find(", cells written") != std::string::npos);
    }
    alone += jobs[jobs.size() - 2].calls.size();
    joined += jobs.back().calls.size();
    device->memory().know(draws.back()->bytes(), nullptr);
  }
  EXPECT_LT(joined, alone * 3 / 4);
  EXPECT_EQ(ends >= seeds / 4, is_fast) << ends;
  EXPECT_GE(moves, seeds / 8) << moves;
  const auto runs = device->load(text, jobs);
  for (std::size_t i = 0; i < draws.size(); ++i) {
    EXPECT_EQ(run(*device, *runs[2 * i], *draws[i]), run(*device, *runs[2 * i + 1], *draws[i]))
        << "seed " << first_seed + i;
  }
}

TEST(JoinedWorks, HandFaultsOn) {
  const auto device = make_emulated_device().value();
  std::vector<std::int64_t> numbers(64);
  numbers[32] = 9;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(numbers));
  const auto tensor_at = [&](std::size_t at, const Sizes& sizes) {
    return Tensor{.dtype = DType::kInt64,
                  .sizes = sizes,
                  .strides = row_major_strides(sizes),
                  .bytes = bytes.data() + 8 * at};
  };
  Tensor all = tensor_at(0, {4, 4});
  const IndexedDim dim = indexed_dim(all, 0, tensor_at(32, {1, 1}), false);
  all.sizes[0] = 1;
  const DeviceWorks works = {
      copy_work(tensor_at(40, {8}), tensor_at(48, {8})),
      read_cells_text({{1, 4}, all, {tensor_at(16, {1, 4})}, {dim}}, 8),
  };
  DeviceProgramText text;
  device->memory().know(bytes, nullptr);
  const std::vector<Device::Job> jobs = {{text.add(join_works(works)), true}};
  ASSERT_EQ(jobs.front().calls.size(), 1U);
  const auto runs = device->load(text, jobs);
  device->memory().bring_to_device(bytes);
  runs.front()->launch();
  try {
    device->finish();
    FAIL() << "nothing was said";
  } catch (const OpError& error) {
    EXPECT_STREQ(error.what(), "index 9 is out of range for dimension 0 of size 4");
  }
}

// Each work a step of its own, on any of three streams, behind the earlier ones that it has to stay
// behind. Without `all_events`, some lack the event.
std::vector<DeviceCall> calls_on_streams(DeviceProgramText& text, const DeviceWorks& works,
                                         unsigned seed, bool all_events) {
  std::mt19937 random(seed);
  std::vector<DeviceWorks> alone;
  std::vector<spec::PlanStep> steps;
  for (std::size_t w = 0; w < works.size(); ++w) {
    alone.push_back({works[w]});
    // Other steps read it.
    if (auto* const pointwise = std::get_if<PointwiseWork>(&alone.back().front())) {
      pointwise->is_inner = false;
    }
    spec::PlanStep& step = steps.emplace_back();
    step.stream = static_cast<std::uint32_t>(random() % 3);
    for (std::size_t before = 0; before < w; ++before) {
      spec::PlanStep& other = steps[before];
      if (other.stream == step.stream) continue;
      if (!Touched(works[w]).keeps_order_with(Touched(works[before]))) continue;
      if (!all_events && random() % 3 == 0) continue;
      const spec::EventId event{static_cast<std::uint32_t>(before)};
      if (other.records.empty()) other.records.push_back(event);
      step.waits.push_back(event);
    }
  }
  std::vector<DeviceStep> out;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    out.push_back({s, &alone[s], steps[s].stream, steps[s].waits, steps[s].records});
  }
  return calls_of_steps(text, out).calls;
}

// How many memories are left other than one work after the other leaves them.
std::size_t different_on_streams(bool is_fast, bool all_events, unsigned first_seed) {
  constexpr unsigned kSeeds = 16;
  constexpr int kLaunches = 4;  // each in another order
  const auto device = make_emulated_device().value();
  DeviceProgramText text(is_fast);
  std::vector<std::unique_ptr<Draws>> draws;
  std::vector<Device::Job> jobs;
  std::size_t branches = 0;
  for (unsigned seed = first_seed; seed < first_seed + kSeeds; ++seed) {
    draws.push_back(std::make_unique<Draws>(seed, is_fast));
    const DeviceWorks works = draws.back()->works(14);
    jobs.push_back({text.add(works), true});
    jobs.push_back({calls_on_streams(text, works, seed, all_events), true});
    std::vector<std::size_t> behind(jobs.back().calls.size());
    for (const auto& edge : edges_of(places_of(jobs.back().calls), false)) ++behind[edge.from];
    branches += static_cast<std::size_t>(
        std::count_if(behind.begin(), behind.end(), [](std::size_t n) { return n > 1; }));
    device->memory().know(draws.back()->bytes(), nullptr);
  }
  EXPECT_GT(branches, kSeeds);
  const auto runs = device->load(text, jobs);
  std::size_t different = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const auto expected = run(*device, *runs[2 * i], *draws[i]);
    for (int launch = 0; launch < kLaunches; ++launch) {
      different += run(*device, *runs[2 * i + 1], *draws[i]) == expected ? 0 : 1;
    }
  }
  return different;
}

TEST(WorksOnStreams, LeaveTheSameBytesInEveryOrderThatEventsAllow) {
  EXPECT_EQ(different_on_streams(false, true, 2001), 0U);
  EXPECT_EQ(different_on_streams(true, true, 3001), 0U);
}

TEST(WorksOnStreams, LeaveOtherBytesWhereEventsAreMissing) {
  EXPECT_GT(different_on_streams(false, false, 2001), 4U);
}

TEST(JoinedWorks, LeaveTheSameBytesAsOneAfterTheOther) { expect_equal_bytes(false, 1, 24); }

TEST(JoinedWorks, LeaveThemWhereLaunchesOverlapToo) { expect_equal_bytes(true, 1001, 24); }

}  // namespace
}  // namespace graphgate::optimized::emulated
