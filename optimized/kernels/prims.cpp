// prims: PyTorch's own primitive ops, as far as core decompositions leave them. Views are made
// here; the others are kernels of aten with their arguments in other places.
#include <array>

#include "optimized/binding.h"
#include "optimized/codegen/work.h"
#include "optimized/kernels/elements/elements.h"
#include "optimized/kernels/families.h"
#include "optimized/kernels/pointwise.h"
#include "optimized/launch.h"

namespace graphgate::optimized {
namespace {

struct Collapsed {
  Sizes sizes;
  Sizes strides;  // of a view, where there is one
  bool is_view = true;
};

// Dimensions [start, end] as one.
Collapsed collapsed(const KernelCall& call) {
  const Tensor& a = call.tensor("a");
  const std::int64_t start = call.integer("start");
  const std::int64_t end = call.integer("end");
  const std::int64_t rank = std::max<std::int64_t>(a.rank(), 1);
  if (start < 0 || end < start || end >= rank) throw OpError("there are no such dimensions");
  Collapsed out;
  std::int64_t size = 1;
  std::int64_t stride = 1;
  bool has_stride = false;
  for (std::int64_t d = 0; d < a.rank(); ++d) {
    if (d >= start && d <= end) {
      // Those of size 1 do not count: elements go on where the last other one's end.
      if (a.size(d) != 1) {
        if (has_stride && stride != a.strides[at(d)] * a.size(d)) out.is_view = false;
        stride = a.strides[at(d)];
        has_stride = true;
      }
      size *= a.size(d);
      if (d < end) continue;
      out.sizes.push_back(size);
      out.strides.push_back(has_stride ? stride : a.strides[at(end)]);
    } else {
      out.sizes.push_back(a.size(d));
      out.strides.push_back(a.strides[at(d)]);
    }
  }
  if (a.rank() == 0) {
    out.sizes.push_back(1);
    out.strides.push_back(1);
  }
  if (a.count() == 0) {
    out.is_view = true;
    out.strides = row_major_strides(out.sizes);
  }
  return out;
}

void infer_collapse(Inference& call) {
  const Tensor& a = call.tensor("a");
  call.make(a.dtype, collapsed(call).sizes);
}

Launch bind_collapse(const Binding& call) {
  const Tensor& a = call.tensor("a");
  Tensor split = call.result();
  split.sizes = a.sizes;
  split.strides = row_major_strides(a.sizes);
  return copy_launch(call.listener(), split, a);
}

void infer_collapse_view(Inference& call) {
  const Tensor& a = call.tensor("a");
  Collapsed out = collapsed(call);
  if (!out.is_view) throw OpError("dimensions that do not lie behind each other make no view");
  call.make_view(a, std::move(out.sizes), std::move(out.strides), a.offset);
}

void infer_split_dim(Inference& call) {
  const Tensor& a = call.tensor("a");
  const std::int64_t dim = call.integer("dim");
  const std::int64_t outer = call.integer("outer_length");
  if (dim < 0 || dim >= a.rank() || outer < 1 || a.size(dim) % outer != 0) {
    throw OpError("dimension " + std::to_string(dim) + " of " + print_sizes(a.sizes) +
                  " does not split into " + std::to_string(outer));
  }
  const std::int64_t inner = a.size(dim) / outer;
  Sizes sizes;
  Sizes strides;
  for (std::int64_t d = 0; d < a.rank(); ++d) {
    if (d == dim) {
      sizes.push_back(outer);
      strides.push_back(a.strides[at(d)] * inner);
    }
    sizes.push_back(d == dim ? inner : a.size(d));
    strides.push_back(a.strides[at(d)]);
  }
  call.make_view(a, std::move(sizes), std::move(strides), a.offset);
}

void infer_broadcast_in_dim(Inference& call) {
  const Tensor& a = call.tensor("a");
  const Sizes sizes = call.integers("shape");
  const Sizes dims = call.integers("broadcast_dimensions");
  Sizes strides(sizes.size(), 0);
  bool fits = static_cast<std::int64_t>(dims.size()) == a.rank();
  for (std::int64_t d = 0; fits && d < a.rank(); ++d) {
    const std::int64_t to = dims[at(d)];
    fits = to >= 0 && at(to) < sizes.size() && (d == 0 || to > dims[at(d - 1)]) &&
           (a.size(d) == 1 || a.size(d) == sizes[at(to)]);
    if (fits && a.size(d) == sizes[at(to)]) strides[at(to)] = a.strides[at(d)];
  }
  if (!fits) {
    throw OpError(print_sizes(a.sizes) + " does not go into " + print_sizes(sizes) + " along " +
                  print_sizes(dims));
  }
  call.make_view(a, sizes, std::move(strides), a.offset);
}

void infer_squeeze_dimensions(Inference& call) {
  const Tensor& a = call.tensor("a");
  const auto dims = wrap_dims(call.integers("dimensions"), a.rank(), false);
  Sizes sizes;
  Sizes strides;
  for (std::int64_t d = 0; d < a.rank(); ++d) {
    if (a.size(d) == 1 && std::find(dims.begin(), dims.end(), d) != dims.end()) continue;
    sizes.push_back(a.size(d));
    strides.push_back(a.strides[at(d)]);
  }
  call.make_view(a, std::move(sizes), std::move(strides), a.offset);
}

void infer_view_of(Inference& call) {
  const Tensor& a = call.tensor("a");
  call.make_view(a, a.sizes, a.strides, a.offset);
}

void infer_prim_convert(Inference& call) {
  const Tensor& a = call.tensor("a");
  call.make(*call.optional_dtype("dtype"), a.sizes, strides_like(a, spec::MemoryFormat::kPreserve),
            a.device);
}

Launch bind_prim_convert(const Binding& call) {
  return copy_launch(call.listener(), call.result(), call.tensor("a"));
}

// An op of aten with other arguments, by its schema's names.
struct OtherCall {
  const spec::OpRow* row;
  const Kernel* kernel;
  std::vector<Item> arguments;
};
OtherCall other_call(std::string_view op,
                     const std::vector<std::pair<std::string, Item>>& arguments) {
  OtherCall out{spec::builtin_op_table().find(op), nullptr, {}};
  GRAPHGATE_CHECK(out.row != nullptr);
  out.kernel = find_kernel(*out.row);
  GRAPHGATE_CHECK(out.kernel != nullptr);
  std::vector<spec::NamedArgument> named;
  named.reserve(arguments.size());
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    named.push_back({arguments[i].first, {spec::ValueId{i}}});
  }
  out.arguments = bind_arguments(out.row->schema, named,
                                 [&](spec::ValueId id) { return arguments[id.index].second; });
  return out;
}

OtherCall call_of_sum(const KernelCall& call) {
  std::vector<std::pair<std::string, Item>> arguments = {{"self", call.item("inp")},
                                                         {"dim", call.item("dims")}};
  if (const auto dtype = call.optional_dtype("output_dtype")) {
    arguments.emplace_back("dtype", Item{*dtype});
  }
  return other_call("aten.sum.dim_IntList", arguments);
}
OtherCall call_of_var(const KernelCall& call) {
  if (call.optional_dtype("output_dtype").value_or(call.tensor("inp").dtype) !=
      call.tensor("inp").dtype) {
    throw Unsupported("a variance in another dtype than the operand's");
  }
  return other_call("aten.var.correction", {{"self", call.item("inp")},
                                            {"dim", call.item("dims")},
                                            {"correction", call.item("correction")}});
}
OtherCall call_of_sqrt(const KernelCall& call) {
  return other_call("aten.sqrt.default", {{"self", call.item("self")}});
}
OtherCall call_of_iota(const KernelCall& call) {
  const std::int64_t start = call.integer("start");
  const std::int64_t step = call.integer("step");
  const std::int64_t length = call.integer("length");
  std::int64_t end = 0;
  if (length < 0 || step == 0 || __builtin_mul_overflow(length, step, &end) ||
      __builtin_add_overflow(start, end, &end)) {
    throw OpError("there is no sequence of " + std::to_string(length) + " numbers");
  }
  return other_call("aten.arange.start_step", {{"start", {start}},
                                               {"end", {end}},
                                               {"step", {step}},
                                               {"dtype", call.item("dtype")},
                                               {"device", call.item("device")}});
}

template <OtherCall (*made)(const KernelCall&)>
void infer_other(Inference& call) {
  const OtherCall other = made(call);
  const Inference inner = infer_call(*other.kernel, *other.row, other.arguments, call.has_data());
  const Tensor& result = inner.results().front().tensor;
  call.want_workspace(inner.workspace_bytes());
  call.make(result.dtype, result.sizes, result.strides, result.device);
}

template <OtherCall (*made)(const KernelCall&)>
Launch bind_other(const Binding& call) {
  OtherCall other = made(call);
  return bind_call(*other.kernel, *other.row, std::move(other.arguments), {call.result()},
                   call.workspace(), call.listener());
}

}  // namespace

std::span<const Kernel> prims_kernels() {
  static const Kernel kKernels[] = {
      Kernel{"prims.broadcast_in_dim", infer_broadcast_in_dim}.any_dtype(),
      Kernel{"prims.collapse", infer_collapse, bind_collapse}.any_dtype().moves("a"),
      Kernel{"prims.collapse_view", infer_collapse_view}.any_dtype(),
      Kernel{"prims.convert_element_type", infer_prim_convert, bind_prim_convert}.copies("a"),
      {"prims.iota", infer_other<call_of_iota>, bind_other<call_of_iota>},
      Kernel{"prims.split_dim", infer_split_dim}.any_dtype(),
      {"prims.sqrt", infer_other<call_of_sqrt>, bind_other<call_of_sqrt>},
      Kernel{"prims.squeeze", infer_squeeze_dimensions}.any_dtype(),
      {"prims.sum", infer_other<call_of_sum>, bind_other<call_of_sum>},
      {"prims.var", infer_other<call_of_var>, bind_other<call_of_var>},
      Kernel{"prims.view_of", infer_view_of}.any_dtype(),
  };
  return kKernels;
}

}  // namespace graphgate::optimized
