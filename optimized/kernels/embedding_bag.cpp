// embedding_bag: bags of rows of a weight, summed, averaged or compared. It runs on the host: what
// a bag holds depends on the offsets, and how many rows on the padding.
#include <algorithm>

#include "optimized/arithmetic/sum.h"
#include "optimized/converted_rows.h"
#include "optimized/kernels/families.h"
#include "optimized/promotion.h"
#include "optimized/value_errors.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

// What the arguments say without their elements.
struct BagForm {
  std::int64_t mode = 0;  // 0 sums, 1 averages, 2 takes the greatest
  DType index_dtype = DType::kInt64;
  std::int64_t bags = 0;
  std::int64_t offsets = 0;
  bool tells_bags = false;  // of each index: PyTorch's fast sums do not
};

constexpr std::int64_t kMeanBag = 1;
constexpr std::int64_t kGreatestBag = 2;

BagForm bag_form(const KernelCall& call) {
  const Tensor& weight = call.tensor("weight");
  const Tensor& indices = call.tensor("indices");
  const Tensor& offsets = call.tensor("offsets");
  if (weight.rank() != 2 || indices.rank() != 1 || offsets.rank() != 1) {
    throw OpError("a bag is made of a matrix, a list of indices and one of offsets");
  }
  if (!spec::is_floating_point(weight.dtype) || spec::item_size_bytes(weight.dtype) == 1) {
    throw OpError("bags are not of " + std::string(spec::torch_name(weight.dtype)));
  }
  for (const Tensor* index : {&indices, &offsets}) {
    if (index->dtype != DType::kInt64 && index->dtype != DType::kInt32) {
      throw OpError("indices and offsets are int64 or int32");
    }
  }
  BagForm out;
  out.mode = call.integer("mode");
  if (out.mode < 0 || out.mode > 2) throw OpError("a bag's mode is 0, 1 or 2");
  const bool is_wide = indices.dtype == DType::kInt64 || offsets.dtype == DType::kInt64;
  out.index_dtype = is_wide ? DType::kInt64 : DType::kInt32;
  out.offsets = offsets.sizes[0];
  out.bags = out.offsets - (call.boolean("include_last_offset") ? 1 : 0);
  if (out.bags < 0) throw OpError("the end of the last bag is missing");
  bool is_fast = out.mode == 0 && weight.dtype != DType::kFloat64 && weight.strides[1] == 1 &&
                 call.integer("padding_idx") < 0;
  if (const Tensor* samples = call.optional_tensor("per_sample_weights")) {
    const bool fits = samples->dtype == weight.dtype && samples->sizes == indices.sizes;
    if (out.mode != 0 || !fits) throw OpError("weights of samples are for sums, one an index");
    is_fast = is_fast && samples->strides[0] == 1;
  }
  out.tells_bags = !is_fast;
  return out;
}

// `is_forward`: sums state their sizes as they state offsets.
template <bool is_forward>
void infer_bags(Inference& call) {
  const BagForm form = bag_form(call);
  const Tensor& weight = call.tensor("weight");
  const std::int64_t stated = is_forward && form.mode == 0 ? form.offsets : form.bags;
  call.make(weight.dtype, {form.bags, weight.sizes[1]});
  call.make(form.index_dtype, {form.tells_bags ? call.tensor("indices").sizes[0] : 0});
  call.make(form.index_dtype, {stated});
  call.make(form.index_dtype,
            form.mode == kGreatestBag ? Sizes{form.bags, weight.sizes[1]} : Sizes{stated});
}

std::vector<std::int64_t> numbers_of(const Rows& rows) {
  std::vector<std::int64_t> out(at(rows.length()));
  rows.load<std::int64_t>(0, out.data());
  return out;
}

void write_numbers(const Tensor& to, std::vector<std::int64_t> numbers) {
  numbers.resize(at(to.count()), 0);
  std::vector<std::int64_t> dims(at(to.rank()));
  for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<std::int64_t>(d);
  if (!numbers.empty()) Rows(to, dims).store<std::int64_t>(0, numbers.data());
}

template <class C>
struct BagLaunch {
  BagForm form;
  std::array<Tensor, 4> results;
  DType dtype;
  Rows weight, indices, offsets, out;
  std::optional<Rows> samples;
  std::int64_t padding;

  void operator()() const {
    const std::vector<std::int64_t> rows = numbers_of(indices);
    const std::vector<std::int64_t> begins = begins_of(static_cast<std::int64_t>(rows.size()));
    for (const std::int64_t row : rows) {
      if (row < 0 || row >= weight.count()) throw_index_out_of_range(row, 0, weight.count());
    }
    std::vector<C> factors(samples ? rows.size() : 0);
    if (samples && !factors.empty()) samples->template load<C>(0, factors.data());
    std::vector<std::int64_t> bag_of(rows.size(), 0);
    std::vector<std::int64_t> sizes(at(form.bags), 0);
    std::vector<std::int64_t> greatest;
    for (std::int64_t bag = 0; bag < form.bags; ++bag) {
      std::vector<std::vector<C>> held;
      std::vector<std::int64_t> numbers;
      for (std::int64_t i = begins[at(bag)]; i < begins[at(bag + 1)]; ++i) {
        bag_of[at(i)] = bag;
        if (rows[at(i)] == padding) continue;
        numbers.push_back(rows[at(i)]);
        held.emplace_back(at(weight.length()));
        weight.template load<C>(rows[at(i)], held.back().data());
        if (samples) {
          for (C& x : held.back()) x *= factors[at(i)];
        }
      }
      sizes[at(bag)] = static_cast<std::int64_t>(held.size());
      std::vector<C> made(at(out.length()), C(0));
      for (std::int64_t j = 0; j < out.length(); ++j) {
        if (form.mode == kGreatestBag) {
          greatest.push_back(greatest_of_bag(held, numbers, j, made[at(j)]));
        } else {
          made[at(j)] = sum_of_bag(held, j);
        }
      }
      store_row<C>(results[0], out, bag, dtype, made.data());
    }
    const bool is_sum = form.mode == 0;
    write_numbers(results[1], bag_of);
    write_numbers(results[2], is_sum ? std::vector<std::int64_t>() : sizes);
    write_numbers(results[3], form.mode == kGreatestBag ? greatest
                              : is_sum                  ? std::vector<std::int64_t>()
                                                        : sizes);
  }

  // Where bags begin, and the end of the last one.
  [[nodiscard]] std::vector<std::int64_t> begins_of(std::int64_t count) const {
    std::vector<std::int64_t> begins = numbers_of(offsets);
    if (!begins.empty() && begins.front() != 0) throw OpError("the first bag begins at 0");
    if (form.bags == form.offsets) begins.push_back(count);
    if (!begins.empty() &&
        (begins.back() > count || !std::is_sorted(begins.begin(), begins.end()))) {
      throw OpError("offsets of bags ascend, up to the number of indices");
    }
    if (!begins.empty()) begins.back() = count;
    return begins;
  }

  [[nodiscard]] C sum_of_bag(const std::vector<std::vector<C>>& held, std::int64_t j) const {
    const auto n = static_cast<std::int64_t>(held.size());
    const C sum = ordered_sum_of<C>(n, [&](std::int64_t i) { return held[at(i)][at(j)]; });
    return form.mode == kMeanBag && n != 0 ? sum / static_cast<C>(n) : sum;
  }

  // The first of the greatest, into `made`; returns the row that it is of.
  static std::int64_t greatest_of_bag(const std::vector<std::vector<C>>& held,
                                      const std::vector<std::int64_t>& numbers, std::int64_t j,
                                      C& made) {
    if (held.empty()) return 0;
    std::size_t best = 0;
    for (std::size_t i = 1; i < held.size(); ++i) {
      if (held[i][at(j)] > held[best][at(j)]) best = i;
    }
    made = held[best][at(j)];
    return numbers[best];
  }
};

Launch bind_bags(const Binding& call) {
  const Tensor& weight = call.tensor("weight");
  const Tensor* samples = call.optional_tensor("per_sample_weights");
  return with_real(weight.dtype, [&]<class C>() -> Launch {
    return BagLaunch<C>{.form = bag_form(call),
                        .results = {call.result(0), call.result(1), call.result(2), call.result(3)},
                        .dtype = weight.dtype,
                        .weight = Rows(weight, {1}),
                        .indices = Rows(call.tensor("indices"), {0}),
                        .offsets = Rows(call.tensor("offsets"), {0}),
                        .out = Rows(call.result(), {1}),
                        .samples = samples ? std::optional(Rows(*samples, {0})) : std::nullopt,
                        .padding = call.integer("padding_idx")};
  });
}

}  // namespace

std::span<const Kernel> embedding_bag_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten._embedding_bag", infer_bags<false>, bind_bags},
      {"aten._embedding_bag_forward_only", infer_bags<true>, bind_bags},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
