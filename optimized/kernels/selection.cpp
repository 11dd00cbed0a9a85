#include "optimized/kernels/selection.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/rows.h"
#include "optimized/torch_release.h"
#include "optimized/word_dtype.h"

namespace graphgate::optimized {
namespace {

using spec::DType;

const Item& none() {
  static const Item kNone{spec::None{}};
  return kNone;
}

// ---- clamp ----

struct Bounds {
  Item min;
  Item max;
  [[nodiscard]] bool has_min() const { return !min.as<spec::None>(); }
  [[nodiscard]] bool has_max() const { return !max.as<spec::None>(); }
};

const Item& item_or_none(const KernelCall& call, const char* name) {
  return call.has(name) ? call.item(name) : none();
}

DType clamp_dtype(const KernelCall& call) {
  return result_type({&call.item("self"), &item_or_none(call, "min"), &item_or_none(call, "max")});
}

Bounds bounds_of(const KernelCall& call, DType common) {
  return {integer_bound(item_or_none(call, "min"), common, BoundSide::kBelow),
          integer_bound(item_or_none(call, "max"), common, BoundSide::kAbove)};
}

// A bound that is a number of a call with one bound.
bool is_lone_number(const Bounds& bounds) {
  return bounds.has_min() != bounds.has_max() && !bounds.min.as<Tensor>() &&
         !bounds.max.as<Tensor>();
}

template <class C>
Launch clamp_launch(const Binding& call, const Bounds& bounds, DType common) {
  const Source<C> self(call.item("self"), common);
  const bool ignores_nan = is_lone_number(bounds);
  if (!bounds.has_max()) {
    std::array<Source<C>, 2> sources = {self, Source<C>(bounds.min, common)};
    if (!ignores_nan) {
      return launch_sources<C>(call.listener(), call.result(), common, std::move(sources),
                               element::AtLeast<false>());
    }
    return launch_sources<C>(call.listener(), call.result(), common, std::move(sources),
                             element::AtLeast<true>());
  }
  const Source<C> high(bounds.max, common);
  if (!bounds.has_min()) {
    std::array<Source<C>, 2> sources = {self, high};
    if (!ignores_nan) {
      return launch_sources<C>(call.listener(), call.result(), common, std::move(sources),
                               element::AtMost<false>());
    }
    return launch_sources<C>(call.listener(), call.result(), common, std::move(sources),
                             element::AtMost<true>());
  }
  std::array<Source<C>, 3> sources = {self, Source<C>(bounds.min, common), high};
  return launch_sources<C>(call.listener(), call.result(), common, std::move(sources),
                           element::Clamp());
}

// ---- bits ----

Tensor as_words(Tensor tensor) {
  tensor.dtype = word_dtype(tensor.dtype);
  return tensor;
}

// A value of dtype `dtype` as its bits.
Source<std::int64_t> word_source(const Item& item, DType dtype) {
  const DType word = word_dtype(dtype);
  if (const auto* tensor = item.as<Tensor>()) return {as_words(*tensor), word};
  std::array<std::byte, 8> bytes;
  store_number(item, dtype, bytes.data());
  return {Item{load_element<std::int64_t>(word, bytes.data())}, word};
}

// result = condition ? yes : no, in `common`, which both are cast to.
Launch select_launch(const DeviceListener* listener, const Tensor& result, const Tensor& condition,
                     const Item& yes, const Item& no, DType common) {
  const auto changes = [common](const Item& item) {
    const auto* tensor = item.as<Tensor>();
    return tensor && tensor->dtype != common;
  };
  if (result.dtype == common && !changes(yes) && !changes(no)) {
    using Word = std::int64_t;
    std::array<Source<Word>, 3> sources = {Source<Word>(condition, condition.dtype),
                                           word_source(yes, common), word_source(no, common)};
    return launch_sources<Word>(listener, as_words(result), word_dtype(common), std::move(sources),
                                element::Select());
  }
  return with_compute(common, [&]<class C>() {
    std::array<Source<C>, 3> sources = {Source<C>(condition, condition.dtype),
                                        Source<C>(yes, common), Source<C>(no, common)};
    return launch_sources<C>(listener, result, common, std::move(sources), element::Select());
  });
}

DType where_dtype(const KernelCall& call) {
  return result_type({&call.item("self"), &call.item("other")});
}

}  // namespace

Item integer_bound(const Item& item, DType dtype, BoundSide side) {
  const bool is_number = item.as<std::int64_t>() || item.as<double>() || item.as<bool>();
  if (!is_number || spec::is_floating_point(dtype) || dtype == DType::kBool) return item;
  const auto bits =
      8 * static_cast<int>(spec::item_size_bytes(dtype)) - (dtype == DType::kUInt8 ? 0 : 1);
  const auto most = static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1);
  const std::int64_t least = dtype == DType::kUInt8 ? 0 : -most - 1;
  const auto given = number_as<std::int64_t>(item);
  // Before PyTorch 2.15 such a number was one as any other: it wrapped, or was refused.
  constexpr spec::TorchRelease kLast{2, 14};
  if (torch_release() <= kLast && (given < least || given > most)) return item;
  if (side == BoundSide::kBelow ? given > most : given < least) {
    throw OpError("a bound of " + std::to_string(given) + " is outside of all numbers of " +
                  std::string(spec::torch_name(dtype)));
  }
  return Item{std::clamp(given, least, most)};
}

void infer_clamp(Inference& call) {
  if (!call.has("min") && !call.has("max")) throw OpError("clamp wants a min or a max");
  const DType common = clamp_dtype(call);
  const Bounds bounds = bounds_of(call, common);
  std::vector<const Tensor*> inputs = {&call.tensor("self")};
  for (const Item* bound : {&bounds.min, &bounds.max}) {
    if (const auto* tensor = bound->as<Tensor>()) inputs.push_back(tensor);
    check_number(*bound, common);
  }
  if (common == DType::kBool && (inputs.size() == 1 || (bounds.has_min() && bounds.has_max()))) {
    throw OpError("not implemented for bool");
  }
  make_over(call, common, inputs);
}

Launch bind_clamp(const Binding& call) {
  const DType common = clamp_dtype(call);
  const Bounds bounds = bounds_of(call, common);
  return with_compute(common, [&]<class C>() { return clamp_launch<C>(call, bounds, common); });
}

void infer_masked_fill(Inference& call) {
  const Tensor& self = call.tensor("self");
  const Tensor& mask = call.tensor("mask");
  if (mask.dtype != DType::kBool) throw OpError("masked_fill wants a bool mask");
  const Item& value = call.item("value");
  if (const auto* tensor = value.as<Tensor>(); tensor && tensor->rank() != 0) {
    throw OpError("masked_fill wants a value without dimensions, not " +
                  print_sizes(tensor->sizes));
  }
  check_number(value, self.dtype);
  Sizes sizes = broadcast_sizes(self.sizes, mask.sizes);
  if (call.row().writes(0) && sizes != self.sizes) {
    throw OpError("the mask " + print_sizes(mask.sizes) + " does not broadcast to self " +
                  print_sizes(self.sizes));
  }
  call.make(self.dtype, std::move(sizes), {}, self.device);
}

Launch bind_masked_fill(const Binding& call) {
  const DType dtype = call.tensor("self").dtype;
  return select_launch(call.listener(), call.result(), call.tensor("mask"), call.item("value"),
                       call.item("self"), dtype);
}

void infer_where(Inference& call) {
  const Tensor& condition = call.tensor("condition");
  if (condition.dtype != DType::kBool && condition.dtype != DType::kUInt8) {
    throw OpError("where wants a bool condition, not " +
                  std::string(spec::torch_name(condition.dtype)));
  }
  const DType common = where_dtype(call);
  for (const char* name : {"self", "other"}) {
    if (!spec::is_floating_point(common)) check_number(call.item(name), common);
  }
  make_pointwise(call, common, 3);
}

Launch bind_where(const Binding& call) {
  return select_launch(call.listener(), call.result(), call.tensor("condition"), call.item("self"),
                       call.item("other"), where_dtype(call));
}

}  // namespace graphgate::optimized
