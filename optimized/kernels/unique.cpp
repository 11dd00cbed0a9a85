// Distinct elements and slices: _unique2, unique_consecutive, unique_dim. How many there are is
// seen in the bytes, so that such a step is inferred when it runs.
//
// A search gives, for every item, the number of the distinct one that it equals, and for every
// distinct one its first item; all results follow from these two.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "optimized/kernels/families.h"
#include "optimized/loop.h"
#include "optimized/rows.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

struct Distinct {
  std::vector<std::int64_t> first;    // items
  std::vector<std::int64_t> numbers;  // of each item
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(first.size()); }
};

// What is distinct: elements, or slices along `dim`; all of them or neighbours.
struct Question {
  std::optional<std::int64_t> dim;
  bool sorts = false;
  bool wants_numbers = true;
  bool wants_counts = true;
};

Question question_of(const KernelCall& call) {
  const Tensor& self = call.tensor("self");
  const std::string name = call.row().schema.base_name();
  Question out;
  out.sorts = name == "_unique2" || name == "unique_dim";
  // Slices of a tensor with one dimension are its elements, to PyTorch's kernel, too.
  const bool is_row = name == "unique_consecutive" && self.rank() == 1 && call.has("dim") &&
                      call.integer("dim") == 0;
  if (name != "_unique2" && call.has("dim") && !is_row) {
    if (self.rank() == 0) throw OpError("a tensor without dimensions has no slices");
    out.dim = wrap_dim(call.integer("dim"), self.rank());
    return out;
  }
  out.wants_numbers = call.boolean("return_inverse");
  out.wants_counts = call.boolean("return_counts");
  return out;
}

// Items of `width` values each, one after the other.
template <class C>
class Items {
 public:
  Items(const Tensor& self, std::optional<std::int64_t> dim) {
    const Rows rows = rows_of(self, dim);
    width_ = dim ? rows.length() : 1;
    count_ = dim ? rows.count() : rows.length();
    values_.resize(static_cast<std::size_t>(width_ * count_));
    for (std::int64_t r = 0; r < rows.count(); ++r) rows.load(r, values_.data() + r * width_);
  }
  // Slices as rows, or all elements as one.
  static Rows rows_of(const Tensor& self, std::optional<std::int64_t> dim) {
    std::vector<std::int64_t> inner;
    for (std::int64_t d = 0; d < self.rank(); ++d) {
      if (!dim || d != *dim) inner.push_back(d);
    }
    return Rows(self, inner);
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] bool are_equal(std::int64_t a, std::int64_t b) const {
    const C* x = values_.data() + a * width_;
    return std::equal(x, x + width_, values_.data() + b * width_);
  }
  // By the first values that differ; a NaN of a lone value goes to the end.
  [[nodiscard]] bool comes_first(std::int64_t a, std::int64_t b) const {
    const C* x = values_.data() + a * width_;
    const C* y = values_.data() + b * width_;
    if (width_ == 1 && (*x != *x || *y != *y)) return *x == *x;
    for (std::int64_t i = 0; i < width_; ++i) {
      if (x[i] < y[i]) return true;
      if (y[i] < x[i]) return false;
    }
    return false;
  }

 private:
  std::vector<C> values_;
  std::int64_t width_ = 1;
  std::int64_t count_ = 0;
};

// NaNs of slices equal nothing, and neither come before anything: a merge by hand stays in bounds
// whatever they do to the order.
template <class C>
void sort_items(const Items<C>& items, std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> merged(order.size());
  for (std::size_t run = 1; run < order.size(); run *= 2) {
    for (std::size_t begin = 0; begin < order.size(); begin += 2 * run) {
      const std::size_t middle = std::min(begin + run, order.size());
      const std::size_t end = std::min(begin + 2 * run, order.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t i = begin; i < end; ++i) {
        const bool takes_right =
            left == middle || (right < end && items.comes_first(order[right], order[left]));
        merged[i] = takes_right ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
}

Distinct find_distinct(const Tensor& self, const Question& question) {
  return with_compute(self.dtype, [&]<class C>() {
    const Items<C> items(self, question.dim);
    std::vector<std::int64_t> order(static_cast<std::size_t>(items.count()));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    if (question.sorts) sort_items(items, order);
    Distinct out;
    out.numbers.resize(order.size());
    const std::int64_t* before = nullptr;
    for (const std::int64_t& item : order) {
      if (before == nullptr || !items.are_equal(*before, item)) out.first.push_back(item);
      out.numbers[static_cast<std::size_t>(item)] = out.count() - 1;
      before = &item;
    }
    return out;
  });
}

bool has_no_slices(const Tensor& self, const Question& question) {
  return question.dim && self.sizes[at(*question.dim)] == 0;
}

void infer_distinct(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Question question = question_of(call);
  if (question.dim) {
    const auto empty = std::count(self.sizes.begin(), self.sizes.end(), 0);
    if (empty > (has_no_slices(self, question) ? 1 : 0)) {
      throw OpError("slices of sizes " + print_sizes(self.sizes) + " have no elements");
    }
  }
  if (!call.has_data()) Inference::needs_data();
  const std::int64_t count = find_distinct(self, question).count();
  Sizes sizes = {count};
  Sizes strides = {1};
  if (has_no_slices(self, question)) {
    sizes = self.sizes;
    strides = row_major_strides(sizes);
  } else if (question.dim) {
    sizes = self.sizes;
    sizes[at(*question.dim)] = count;
    // Row-major with the slices outermost.
    Tensor rows;
    rows.sizes = sizes;
    rows.sizes.erase(rows.sizes.begin() + *question.dim);
    rows.sizes.insert(rows.sizes.begin(), count);
    strides = row_major_strides(rows.sizes);
    const std::int64_t outermost = strides[0];
    strides.erase(strides.begin());
    strides.insert(strides.begin() + *question.dim, outermost);
  }
  call.make(self.dtype, sizes, strides);
  const Sizes per_item = question.dim ? Sizes{self.sizes[at(*question.dim)]} : self.sizes;
  call.make(DType::kInt64, question.wants_numbers ? per_item : Sizes{0});
  call.make(DType::kInt64, question.wants_counts ? Sizes{count} : Sizes{0});
}

void write_numbers(const Tensor& result, std::vector<std::int64_t>& numbers) {
  Tensor row_major;
  row_major.dtype = DType::kInt64;
  row_major.sizes = result.sizes;
  row_major.strides = row_major_strides(result.sizes);
  row_major.bytes = reinterpret_cast<std::byte*>(numbers.data());
  copy_now(result, row_major);
}

// Copies the items `from` of `self` to those of `result` in turn.
void copy_items(const Tensor& result, const Tensor& self, const std::vector<std::int64_t>& from,
                std::optional<std::int64_t> dim) {
  if (dim) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto slice_of = [&](Tensor tensor, std::int64_t number) {
        tensor.offset += number * tensor.strides[at(*dim)];
        tensor.sizes.erase(tensor.sizes.begin() + *dim);
        tensor.strides.erase(tensor.strides.begin() + *dim);
        return tensor;
      };
      copy_now(slice_of(result, static_cast<std::int64_t>(i)), slice_of(self, from[i]));
    }
    return;
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    Tensor source = self;
    source.sizes = {};
    source.strides = {};
    std::int64_t left = from[i];
    for (std::size_t d = self.sizes.size(); d-- > 0; left /= self.sizes[d]) {
      source.offset += left % self.sizes[d] * self.strides[d];
    }
    Tensor target = result;
    target.sizes = {};
    target.strides = {};
    target.offset += static_cast<std::int64_t>(i) * result.strides[0];
    std::memcpy(target.data(), source.data(), static_cast<std::size_t>(self.item_bytes()));
  }
}

Launch bind_distinct(const Binding& call) {
  const Tensor& self = call.tensor("self");
  return [self, question = question_of(call), items = call.result(0), numbers = call.result(1),
          counts = call.result(2)] {
    if (items.dtype != self.dtype) throw OpError("out is not of self's dtype");
    Distinct distinct = find_distinct(self, question);
    std::vector<std::int64_t> occurrences(distinct.first.size(), 0);
    for (const std::int64_t number : distinct.numbers)
      ++occurrences[static_cast<std::size_t>(number)];
    if (distinct.count() != items.sizes[question.dim ? at(*question.dim) : 0]) {
      throw OpError("the bytes give " + std::to_string(distinct.count()) + " distinct items, not " +
                    print_sizes(items.sizes));
    }
    copy_items(items, self, distinct.first, question.dim);
    if (question.wants_numbers) write_numbers(numbers, distinct.numbers);
    if (question.wants_counts) write_numbers(counts, occurrences);
  };
}

}  // namespace

std::span<const Kernel> unique_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel{"aten._unique2", infer_distinct, bind_distinct}.moves("self"),
      Kernel{"aten.unique_consecutive", infer_distinct, bind_distinct}.moves("self"),
      Kernel{"aten.unique_dim", infer_distinct, bind_distinct}.moves("self"),
      Kernel{"aten.unique_dim_consecutive", infer_distinct, bind_distinct}.moves("self"),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
