// _foreach_*: one op for each element of lists of tensors, as a list of results or in place.
//
// Each element is a call of the op's own kernel, bound and launched like any other; so lists keep
// its dtypes, strides and device works.
#include <array>
#include <string>

#include "optimized/binding.h"
#include "optimized/codegen/work.h"
#include "optimized/kernels/families.h"
#include "optimized/launch.h"

namespace graphgate::optimized {
namespace {

// The overload that does for one element what `name` of a list op does: by the overload of the
// list op, functional and in place.
struct ElementOverload {
  std::string_view ops;  // names between blanks; empty: all that are in no row before
  std::string_view list;
  std::string_view functional;
  std::string_view in_place;
};
constexpr ElementOverload kElementOverloads[] = {
    {" addcdiv addcmul ", "Scalar", "default", "default"},
    {" addcdiv addcmul ", "ScalarList", "default", "default"},
    {" clamp_max clamp_min ", "Scalar", "default", "default"},
    {" clamp_max clamp_min ", "ScalarList", "default", "default"},
    {" lerp ", "List", "Tensor", "Tensor"},
    {" pow ", "List", "Tensor_Tensor", "Tensor"},
    {" pow ", "Scalar", "Tensor_Scalar", "Scalar"},
    {" pow ", "ScalarList", "Tensor_Scalar", "Scalar"},
    {" pow ", "ScalarAndTensor", "Scalar", ""},
    {"", "default", "default", "default"},
    {"", "List", "Tensor", "Tensor"},
    {"", "Tensor", "Tensor", "Tensor"},
    {"", "Scalar", "Scalar", "Scalar"},
    {"", "ScalarList", "Scalar", "Scalar"},
};

// The op of one element.
struct ElementOp {
  const spec::OpRow* row = nullptr;
  const Kernel* kernel = nullptr;
};

ElementOp element_op(const spec::OpRow& list) {
  const std::string base = list.schema.base_name();
  constexpr std::string_view kPrefix = "_foreach_";
  std::string name = base.substr(kPrefix.size());
  // Bounds of lists: the larger and the smaller of two are clamps.
  if (name == "maximum") name = "clamp_min";
  if (name == "minimum") name = "clamp_max";
  if (name == "norm") name = "linalg_vector_norm";
  const bool is_in_place = list.schema.name != base;
  const std::string overload = list.schema.overload.empty() ? "default" : list.schema.overload;
  for (const ElementOverload& rule : kElementOverloads) {
    const bool is_meant =
        rule.ops.empty() || rule.ops.find(" " + name + " ") != std::string_view::npos;
    const bool is_norm = name == "linalg_vector_norm";
    if (!is_meant || (!is_norm && rule.list != overload)) continue;
    const std::string element = "aten." + name + (is_in_place ? "_." : ".") +
                                std::string(is_norm       ? "default"
                                            : is_in_place ? rule.in_place
                                                          : rule.functional);
    const spec::OpRow* row = spec::builtin_op_table().find(element);
    const Kernel* kernel = row != nullptr ? find_kernel(*row) : nullptr;
    if (kernel != nullptr) return {row, kernel};
    break;
  }
  throw Unsupported("there is no kernel for the elements of " + list.schema.qualified_name());
}

// How many elements the lists have: all of them as many.
std::size_t list_length(const KernelCall& call) {
  std::optional<std::size_t> length;
  for (const Item& item : call.arguments()) {
    const auto* list = item.as<Item::List>();
    if (list == nullptr) continue;
    if (length && *length != list->size()) throw OpError("lists of different lengths");
    length = list->size();
  }
  if (!length || *length == 0) throw OpError("a list of tensors must have one at least");
  return *length;
}

// The arguments of element `i`: of lists their element, of others the argument itself.
std::vector<Item> element_arguments(const KernelCall& call, const ElementOp& op, std::size_t i) {
  std::vector<Item> items;
  std::vector<spec::NamedArgument> named;
  const auto& parameters = op.row->schema.arguments;
  const bool is_norm = op.row->schema.name == "linalg_vector_norm";
  for (std::size_t k = 0; k < call.arguments().size() && k < parameters.size(); ++k) {
    const Item& item = call.arguments()[k];
    const auto* list = item.as<Item::List>();
    // The dtype of a norm stands behind dimensions, which lists do not have.
    const std::string name =
        is_norm && k == 2 ? std::string("dtype") : std::string(parameters[k].name);
    named.push_back({name, {spec::ValueId{static_cast<std::uint32_t>(items.size())}}});
    items.push_back(list != nullptr ? (*list)[i] : item);
  }
  return bind_arguments(op.row->schema, named, [&](spec::ValueId id) { return items[id.index]; });
}

void infer_foreach(Inference& call) {
  const ElementOp op = element_op(call.row());
  const std::size_t length = list_length(call);
  const bool is_in_place = call.row().schema.returns.empty();
  if (!is_in_place) call.begin_list();
  for (std::size_t i = 0; i < length; ++i) {
    const Inference made =
        infer_call(*op.kernel, *op.row, element_arguments(call, op, i), call.has_data());
    call.want_workspace(made.workspace_bytes());
    if (is_in_place) continue;
    const Tensor& result = made.results().front().tensor;
    call.make(result.dtype, result.sizes, result.strides, result.device);
  }
  if (!is_in_place) call.end_list();
}

Launch bind_foreach(const Binding& call) {
  const ElementOp op = element_op(call.row());
  const std::size_t length = list_length(call);
  const bool is_in_place = call.row().schema.returns.empty();
  std::byte* workspace = call.workspace();
  std::vector<Launch> launches;
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<Item> arguments = element_arguments(call, op, i);
    const Inference made = infer_call(*op.kernel, *op.row, arguments, true);
    std::vector<Tensor> results;
    if (!is_in_place) {
      results.push_back(call.result(i));
    } else if (const auto* target = arguments.front().as<Tensor>()) {
      results.push_back(*target);
    }
    launches.push_back(bind_call(*op.kernel, *op.row, std::move(arguments), std::move(results),
                                 workspace, call.listener()));
    if (workspace != nullptr) workspace += (made.workspace_bytes() + 63) / 64 * 64;
  }
  return in_turn(std::move(launches));
}

// Names of list ops, "aten._foreach_add" and so on.
constexpr std::array kForeachNames = {
    "aten._foreach_abs",        "aten._foreach_acos",    "aten._foreach_add",
    "aten._foreach_addcdiv",    "aten._foreach_addcmul", "aten._foreach_asin",
    "aten._foreach_atan",       "aten._foreach_ceil",    "aten._foreach_clamp_max",
    "aten._foreach_clamp_min",  "aten._foreach_clone",   "aten._foreach_copy",
    "aten._foreach_cos",        "aten._foreach_cosh",    "aten._foreach_div",
    "aten._foreach_erf",        "aten._foreach_erfc",    "aten._foreach_exp",
    "aten._foreach_expm1",      "aten._foreach_floor",   "aten._foreach_frac",
    "aten._foreach_lerp",       "aten._foreach_log",     "aten._foreach_log10",
    "aten._foreach_log1p",      "aten._foreach_log2",    "aten._foreach_max",
    "aten._foreach_maximum",    "aten._foreach_minimum", "aten._foreach_mul",
    "aten._foreach_neg",        "aten._foreach_norm",    "aten._foreach_pow",
    "aten._foreach_reciprocal", "aten._foreach_round",   "aten._foreach_rsqrt",
    "aten._foreach_sigmoid",    "aten._foreach_sign",    "aten._foreach_sin",
    "aten._foreach_sinh",       "aten._foreach_sqrt",    "aten._foreach_sub",
    "aten._foreach_tan",        "aten._foreach_tanh",    "aten._foreach_trunc",
    "aten._foreach_zero",
};

}  // namespace

std::span<const Kernel> foreach_kernels() {
  static const std::array kKernels = [] {
    std::array<Kernel, kForeachNames.size()> kernels;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      kernels[i] = {kForeachNames[i], infer_foreach, bind_foreach};
    }
    return kernels;
  }();
  return kKernels;
}

}  // namespace graphgate::optimized
