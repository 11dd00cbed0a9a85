// embedding_bag: the rows of a weight that indices name, summed, averaged or compared bag by bag.
#include <array>
#include <optional>
#include <vector>

#include "reference/number/left_open.h"
#include "reference/ops/contributions.h"
#include "reference/pointwise.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

enum class BagMode : std::uint8_t { kSum, kMean, kMax };

std::vector<std::int64_t> decided_indices(const Tensor& tensor) {
  std::vector<std::int64_t> out;
  for (const Whole x : load_index(tensor).data) {
    if (x.undecided) throw Undecidable("what a bag holds depends on rounding");
    out.push_back(x.value);
  }
  return out;
}

// The arguments, checked.
struct Bags {
  const Tensor& weight;
  TensorRef sample_weights;
  BagMode mode;
  DType index_dtype;
  std::int64_t padding;  // a row that counts for nothing
  std::int64_t listed;   // offsets that are given: as many as bags, or the end of the last one more
  std::vector<std::int64_t> indices;
  std::vector<std::int64_t> bag_of;  // each index
  std::int64_t count = 0;

  explicit Bags(const Call& call)
      : weight(*call.tensor("weight")),
        sample_weights(call.optional_tensor("per_sample_weights")),
        mode(static_cast<BagMode>(call.integer("mode"))),
        index_dtype(promote(call.tensor("indices")->dtype, call.tensor("offsets")->dtype)),
        padding(call.integer("padding_idx")),
        indices(decided_indices(*call.tensor("indices"))) {
    const std::vector<std::int64_t> offsets = decided_indices(*call.tensor("offsets"));
    require_floating(call, weight.dtype);
    refuse_float8(call, weight.dtype);
    const bool are_flat =
        call.tensor("indices")->rank() == 1 && call.tensor("offsets")->rank() == 1;
    if (weight.rank() != 2 || !are_flat) throw OpError("embedding_bag: wrong ranks");
    if (call.integer("mode") < 0 || call.integer("mode") > 2) {
      throw OpError("embedding_bag: mode is 0 (sum), 1 (mean) or 2 (max)");
    }
    if (sample_weights) {
      const bool fits = sample_weights->dtype == weight.dtype && sample_weights->rank() == 1 &&
                        sample_weights->count() == std::ssize(indices);
      if (mode != BagMode::kSum || !fits)
        throw OpError("embedding_bag: per_sample_weights do not fit");
    }
    listed = std::ssize(offsets);
    const bool has_end = call.boolean("include_last_offset");
    if (has_end && listed < 1) throw OpError("embedding_bag: include_last_offset wants an offset");
    // PyTorch's kernels disagree on whether the last bag has what lies behind its end.
    if (has_end && offsets.back() != std::ssize(indices)) {
      throw Undecidable("the last offset is not the end of the indices");
    }
    count = has_end ? listed - 1 : listed;
    place(offsets);
    for (const std::int64_t index : indices) {
      if (index < 0 || index >= weight.sizes[0])
        throw OpError("embedding_bag: an index is outside");
    }
  }

  // Whether PyTorch's CPU kernel leaves out which bag each index is in: it sums row by row then.
  [[nodiscard]] bool sums_rows() const {
    const bool is_fast = weight.dtype != DType::kFloat64 && weight.strides[1] == 1 && padding < 0;
    return mode == BagMode::kSum && is_fast && (!sample_weights || sample_weights->strides[0] == 1);
  }

 private:
  // The last bag ends where the indices do.
  void place(const std::vector<std::int64_t>& offsets) {
    const auto all = std::ssize(indices);
    if (!offsets.empty() && offsets.front() != 0) {
      throw OpError("embedding_bag: offsets[0] has to be 0");
    }
    if (!offsets.empty() && offsets.back() > all) {
      throw OpError("embedding_bag: offsets[-1] can not be greater than input's length");
    }
    bag_of.assign(indices.size(), 0);
    for (std::int64_t bag = 0; bag < count; ++bag) {
      const std::int64_t begin = offsets[static_cast<std::size_t>(bag)];
      const std::int64_t end = bag + 1 < listed ? offsets[static_cast<std::size_t>(bag + 1)] : all;
      if (begin < 0 || end < begin || end > all) throw OpError("embedding_bag: offsets descend");
      for (std::int64_t i = begin; i < end; ++i) bag_of[static_cast<std::size_t>(i)] = bag;
    }
  }
};

// What the bags come to, [bags, width], and for a maximum the row that each element is of.
template <class N>
struct Bagged {
  Array<N> out;
  Array<Whole> rows;
};

template <class N>
Bagged<N> summed_bags(const Bags& bags, const Array<N>& weight,
                      const std::vector<std::int64_t>& sizes) {
  const std::int64_t width = weight.size(1);
  const DType dtype = bags.weight.dtype;
  const Accumulation how{.partials = Partials::kOwnDtype};
  std::vector<N> factors;
  if (bags.sample_weights) factors = load<N>(*bags.sample_weights, dtype).data;
  std::vector<detail::Slot<N>> slots(static_cast<std::size_t>(bags.count * width));
  for (std::size_t i = 0; i < bags.indices.size(); ++i) {
    if (bags.indices[i] == bags.padding) continue;
    for (std::int64_t j = 0; j < width; ++j) {
      const N& x = weight[bags.indices[i] * width + j];
      slots[static_cast<std::size_t>(bags.bag_of[i] * width + j)].add(
          factors.empty() ? x : x * factors[i], how, dtype);
    }
  }
  Bagged<N> result{Array<N>({bags.count, width}), {}};
  for (std::int64_t i = 0; i < result.out.count(); ++i) {
    result.out[i] = slots[static_cast<std::size_t>(i)].result(how, dtype);
    const std::int64_t size = sizes[static_cast<std::size_t>(i / width)];
    if (bags.mode != BagMode::kMean || size == 0) continue;
    result.out[i] = held_in(result.out[i], dtype) / cast(N(static_cast<double>(size)), dtype);
  }
  return result;
}

// The first of the largest; a NaN is the largest of a bag that begins with it alone.
template <class N>
Bagged<N> largest_of_bags(const Bags& bags, const Array<N>& weight) {
  const std::int64_t width = weight.size(1);
  const Whole no_row(declared_arithmetic().has_cuda_kernels ? -1 : 0);
  Bagged<N> result{Array<N>({bags.count, width}, N(0)), Array<Whole>({bags.count, width}, no_row)};
  std::vector<bool> has_one(static_cast<std::size_t>(bags.count));
  for (std::size_t i = 0; i < bags.indices.size(); ++i) {
    if (bags.indices[i] == bags.padding) continue;
    const bool is_first = !has_one[static_cast<std::size_t>(bags.bag_of[i])];
    has_one[static_cast<std::size_t>(bags.bag_of[i])] = true;
    for (std::int64_t j = 0; j < width; ++j) {
      const N& x = weight[bags.indices[i] * width + j];
      const std::int64_t at = bags.bag_of[i] * width + j;
      const Whole is_larger = is_first ? Whole(1) : less(result.out[at], x);
      result.out[at] = is_first ? x : select(is_larger, x, result.out[at]);
      result.rows[at] = select(is_larger, Whole(bags.indices[i]), result.rows[at]);
    }
  }
  return result;
}

Array<Whole> wholes(const std::vector<std::int64_t>& numbers) {
  Array<Whole> out({std::ssize(numbers)});
  for (std::size_t i = 0; i < numbers.size(); ++i) out.data[i] = numbers[i];
  return out;
}

// The bags; which bag each index is in, or nothing; how many rows each bag has; and which rows a
// maximum is of. A sum has zeros in place of the last two, as many as `sum_sizes`. CUDA's kernel
// tells of every index, of the sizes of all bags, behind which one that it does not write stands
// for an offset that ends the last bag, and of rows for a maximum alone.
void emit_bags(Call& call, const Bags& bags, std::int64_t sum_sizes) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(bags.count));
  for (std::size_t i = 0; i < bags.indices.size(); ++i) {
    if (bags.indices[i] != bags.padding) ++sizes[static_cast<std::size_t>(bags.bag_of[i])];
  }
  const bool by_cuda = declared_arithmetic().has_cuda_kernels;
  Array<Whole> told =
      bags.mode == BagMode::kSum && !by_cuda ? Array<Whole>({sum_sizes}) : wholes(sizes);
  if (by_cuda && bags.listed > bags.count) {
    told = Array<Whole>({bags.listed});
    for (std::int64_t i = 0; i < bags.count; ++i) told[i] = sizes[static_cast<std::size_t>(i)];
    told[bags.count] = left_open(told[bags.count]);
  }
  with_real(call.mode(), [&]<class N>() {
    const Array<N> weight = load<N>(bags.weight, bags.weight.dtype);
    const bool is_max = bags.mode == BagMode::kMax;
    const Bagged<N> result =
        is_max ? largest_of_bags(bags, weight) : summed_bags(bags, weight, sizes);
    call.emit(result.out, bags.weight.dtype);
    const bool tells_bags = by_cuda || !bags.sums_rows();
    call.emit(tells_bags ? wholes(bags.bag_of) : Array<Whole>({0}), bags.index_dtype);
    call.emit(told, bags.index_dtype);
    const Array<Whole> no_rows = by_cuda ? Array<Whole>({0}) : told;
    call.emit(is_max ? result.rows : no_rows, bags.index_dtype);
  });
}

void embedding_bag_forward_only(Call& call) {
  const Bags bags(call);
  emit_bags(call, bags, bags.listed);
}
void embedding_bag(Call& call) {
  const Bags bags(call);
  emit_bags(call, bags, bags.count);
}

constexpr std::array kEmbeddingBagOps = {
    OpBody{"aten._embedding_bag", embedding_bag},
    OpBody{"aten._embedding_bag_forward_only", embedding_bag_forward_only},
};

}  // namespace

std::span<const OpBody> embedding_bag_ops() { return kEmbeddingBagOps; }

}  // namespace graphgate::reference
