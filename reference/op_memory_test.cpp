// What bodies take of memory beside their results: at most 16 bytes for each element of their
// operands, and what blocks and panels take whatever the sizes are.
//
// A program of its own: every allocation of the process is counted.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "reference/ops/op_test.h"

namespace {

std::atomic<std::int64_t> live_bytes = 0;
std::atomic<std::int64_t> peak_bytes = 0;

constexpr std::size_t kHeader = alignof(std::max_align_t);

void* counted(std::size_t size) {
  void* block = std::malloc(size + kHeader);
  if (!block) throw std::bad_alloc();
  *static_cast<std::size_t*>(block) = size;
  const std::int64_t live = live_bytes += static_cast<std::int64_t>(size);
  std::int64_t peak = peak_bytes;
  while (peak < live && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
  return static_cast<std::byte*>(block) + kHeader;
}

void uncounted(void* at) noexcept {
  if (!at) return;
  void* block = static_cast<std::byte*>(at) - kHeader;
  live_bytes -= static_cast<std::int64_t>(*static_cast<std::size_t*>(block));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* at) noexcept { uncounted(at); }
void operator delete[](void* at) noexcept { uncounted(at); }
void operator delete(void* at, std::size_t) noexcept { uncounted(at); }
void operator delete[](void* at, std::size_t) noexcept { uncounted(at); }

namespace graphgate::reference {
namespace {

using test::Arguments;
using test::counting;
using test::ints;

constexpr std::int64_t kRows = 250;
constexpr std::int64_t kColumns = 1000;

// Elements that are known within a radius, which storages hold at 16 bytes each.
TensorRef inexact(const Sizes& sizes) {
  TensorRef out = counting(sizes);
  add_marks(*out);
  std::int64_t i = 0;
  for (StoredMark& mark : out->storage->marks) {
    mark = StoredMark(mark.value() / 4096, i++ % 3 == 0 ? 0 : 0x1p-30);
  }
  return out;
}

std::int64_t bytes_of(const Tensor& tensor) {
  return tensor.storage->size_bytes() +
         static_cast<std::int64_t>(tensor.storage->marks.size() * sizeof(StoredMark));
}

// Bytes at the peak of an op, beside its operands and its results.
std::int64_t taken_by(std::string_view op, const Arguments& arguments) {
  const spec::OpRow* row = test::row_with_body(op);
  if (!row) return 0;
  const std::vector<Datum> bound = test::bound_to(*row, arguments);
  Options options;
  options.mode = Mode::kSampled;
  options.audit_effects = false;  // it keeps the bytes of operands
  const std::int64_t before = live_bytes;
  peak_bytes = before;
  const std::vector<Datum> results = run_op(*row, find_body(*row), bound, Run{options});
  std::int64_t taken = peak_bytes - before;
  for (const Datum& datum : results) {
    for_each_tensor(datum, [&](const TensorRef& tensor) { taken -= bytes_of(*tensor); });
  }
  return taken;
}

struct Measured {
  const char* op;
  Arguments arguments;
  std::int64_t elements;  // of all operands
};

TEST(Memory, OfOpsIsSixteenBytesForAnElementOfTheirOperands) {
  const Sizes sizes = {kRows, kColumns};
  const std::int64_t count = kRows * kColumns;
  const Datum x = {inexact(sizes)};
  const Datum y = {inexact(sizes)};
  const Datum row = {inexact({kColumns})};
  const Datum narrow = {inexact({count / 4, 4})};
  const Datum square = {inexact({4, 4})};
  TensorRef index = new_tensor(spec::DType::kInt64, {count / 4}, spec::Device{});
  TensorRef places = new_tensor(spec::DType::kInt64, sizes, spec::Device{});
  const Datum last = {std::int64_t{1}};
  const std::vector<Measured> all = {
      {"aten.relu.default", {{"self", x}}, count},
      {"aten.add.Tensor", {{"self", x}, {"other", row}}, count},
      {"aten.mul.Tensor", {{"self", x}, {"other", y}}, 2 * count},
      {"aten.gt.Tensor", {{"self", x}, {"other", y}}, 2 * count},
      {"aten._to_copy.default", {{"self", x}, {"dtype", {spec::DType::kFloat64}}}, count},
      {"aten.clone.default", {{"self", x}}, count},
      {"aten.flip.default", {{"self", x}, {"dims", ints({0, 1})}}, count},
      {"aten.sum.dim_IntList", {{"self", x}, {"dim", ints({1})}}, count},
      {"aten.sum.dim_IntList", {{"self", x}, {"dim", ints({0, 1})}}, count},
      {"aten.mean.dim", {{"self", x}, {"dim", ints({0})}}, count},
      {"aten.amax.default", {{"self", x}, {"dim", ints({1})}}, count},
      {"aten.argmax.default", {{"self", x}, {"dim", last}}, count},
      {"aten.var.correction", {{"self", x}, {"dim", ints({1})}}, count},
      {"aten.cumsum.default", {{"self", x}, {"dim", last}}, count},
      {"aten._softmax.default", {{"self", x}, {"dim", last}, {"half_to_float", {false}}}, count},
      {"aten.layer_norm.default", {{"input", x}, {"normalized_shape", ints({kColumns})}}, count},
      {"aten.mm.default", {{"self", narrow}, {"mat2", square}}, count},
      {"aten.linear.default", {{"input", narrow}, {"weight", square}}, count},
      {"aten.embedding.default", {{"weight", narrow}, {"indices", {index}}}, count + count / 4},
      {"aten.gather.default", {{"self", x}, {"dim", last}, {"index", {places}}}, 2 * count},
      {"aten.sort.default", {{"self", x}, {"dim", last}}, count},
  };
  constexpr std::int64_t kWhateverTheSizes = 3 << 20;
  for (const Measured& measured : all) {
    EXPECT_LE(taken_by(measured.op, measured.arguments), 16 * measured.elements + kWhateverTheSizes)
        << measured.op;
  }
}

}  // namespace
}  // namespace graphgate::reference
