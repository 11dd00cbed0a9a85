// _foreach_*: an op over each element of lists of tensors. Every element is a call of that op.
#include <array>
#include <string>

#include "reference/ops/composition.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

// What one op of a list is of its elements: the ops' names by the list's overload.
struct ListOp {
  std::string_view name;     // behind "_foreach_"
  std::string_view element;  // behind "aten."
  std::string_view by_list;  // overloads of the element's op; empty: there is none
  std::string_view by_scalar;
  std::string_view in_place_by_list;
  std::string_view in_place_by_scalar;
};
constexpr std::array kListOps = {
    ListOp{"add", "add", "Tensor", "Scalar", "Tensor", "Scalar"},
    ListOp{"addcdiv", "addcdiv", "", "default", "", "default"},
    ListOp{"addcmul", "addcmul", "", "default", "", "default"},
    ListOp{"clamp_max", "clamp_max", "Tensor", "default", "Tensor", "default"},
    ListOp{"clamp_min", "clamp_min", "Tensor", "default", "Tensor", "default"},
    ListOp{"div", "div", "Tensor", "Scalar", "Tensor", "Scalar"},
    ListOp{"lerp", "lerp", "Tensor", "Scalar", "Tensor", "Scalar"},
    ListOp{"maximum", "clamp_min", "Tensor", "default", "Tensor", "default"},
    ListOp{"minimum", "clamp_max", "Tensor", "default", "Tensor", "default"},
    ListOp{"mul", "mul", "Tensor", "Scalar", "Tensor", "Scalar"},
    ListOp{"norm", "linalg_vector_norm", "", "default", "", ""},
    ListOp{"pow", "pow", "Tensor_Tensor", "Tensor_Scalar", "Tensor", "Scalar"},
    ListOp{"sub", "sub", "Tensor", "Scalar", "Tensor", "Scalar"},
};

// "aten.add_.Tensor", the op that runs on each element.
std::string element_name(const spec::OpSchema& schema) {
  const std::string base = schema.base_name();
  const std::string name = base.substr(std::string_view("_foreach_").size());
  const bool is_in_place = schema.name != base;
  for (const ListOp& op : kListOps) {
    if (op.name != name) continue;
    const bool is_by_list = schema.overload == "List" || schema.overload == "Tensor";
    std::string_view overload = is_in_place
                                    ? (is_by_list ? op.in_place_by_list : op.in_place_by_scalar)
                                    : (is_by_list ? op.by_list : op.by_scalar);
    if (schema.overload == "ScalarAndTensor") overload = "Scalar";
    return "aten." + std::string(op.element) + (is_in_place ? "_." : ".") + std::string(overload);
  }
  return "aten." + name + (is_in_place ? "_.default" : ".default");
}

const Datum::List* as_list(const Datum& datum) { return datum.as<Datum::List>(); }

void foreach (Call& call) {
  const spec::OpSchema& schema = call.row().schema;
  const std::string element = element_name(schema);
  const spec::OpRow* row = spec::builtin_op_table().find(element);
  if (row == nullptr || find_body(*row) == nullptr) {
    throw OpError("there is no " + element + " for the elements of " + schema.qualified_name());
  }
  std::size_t length = 0;
  for (const Datum& argument : call.arguments()) {
    const Datum::List* list = as_list(argument);
    if (list == nullptr) continue;
    if (length != 0 && list->size() != length) throw OpError("lists of different lengths");
    length = list->size();
  }
  if (length == 0) throw OpError("a list of tensors must have one at least");
  const Composition run(call);
  Datum::List results;
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<Datum> arguments;
    for (const Datum& argument : call.arguments()) {
      const Datum::List* list = as_list(argument);
      arguments.push_back(list != nullptr ? (*list)[i] : argument);
    }
    // A norm of all dimensions, none of which is kept: what is asked for next is its dtype.
    if (row->schema.name == "linalg_vector_norm") {
      arguments.insert(arguments.begin() + 2, {Datum{}, Datum{false}});
    }
    arguments.resize(std::min(arguments.size(), row->schema.arguments.size()));
    results.push_back(run.datum(element, std::move(arguments)));
  }
  if (!schema.returns.empty()) call.emit_datum({std::move(results)});
}

constexpr std::array kForeachOps = {
    OpBody{"aten._foreach_abs", foreach}.any_dtype(),
    OpBody{"aten._foreach_acos", foreach}.any_dtype(),
    OpBody{"aten._foreach_add", foreach}.any_dtype(),
    OpBody{"aten._foreach_addcdiv", foreach}.any_dtype(),
    OpBody{"aten._foreach_addcmul", foreach}.any_dtype(),
    OpBody{"aten._foreach_asin", foreach}.any_dtype(),
    OpBody{"aten._foreach_atan", foreach}.any_dtype(),
    OpBody{"aten._foreach_ceil", foreach}.any_dtype(),
    OpBody{"aten._foreach_clamp_max", foreach}.any_dtype(),
    OpBody{"aten._foreach_clamp_min", foreach}.any_dtype(),
    OpBody{"aten._foreach_clone", foreach}.any_dtype(),
    OpBody{"aten._foreach_copy", foreach}.any_dtype(),
    OpBody{"aten._foreach_cos", foreach}.any_dtype(),
    OpBody{"aten._foreach_cosh", foreach}.any_dtype(),
    OpBody{"aten._foreach_div", foreach}.any_dtype(),
    OpBody{"aten._foreach_erf", foreach}.any_dtype(),
    OpBody{"aten._foreach_erfc", foreach}.any_dtype(),
    OpBody{"aten._foreach_exp", foreach}.any_dtype(),
    OpBody{"aten._foreach_expm1", foreach}.any_dtype(),
    OpBody{"aten._foreach_floor", foreach}.any_dtype(),
    OpBody{"aten._foreach_frac", foreach}.any_dtype(),
    OpBody{"aten._foreach_lerp", foreach}.any_dtype(),
    OpBody{"aten._foreach_log", foreach}.any_dtype(),
    OpBody{"aten._foreach_log10", foreach}.any_dtype(),
    OpBody{"aten._foreach_log1p", foreach}.any_dtype(),
    OpBody{"aten._foreach_log2", foreach}.any_dtype(),
    OpBody{"aten._foreach_max", foreach}.any_dtype(),
    OpBody{"aten._foreach_maximum", foreach}.any_dtype(),
    OpBody{"aten._foreach_minimum", foreach}.any_dtype(),
    OpBody{"aten._foreach_mul", foreach}.any_dtype(),
    OpBody{"aten._foreach_neg", foreach}.any_dtype(),
    OpBody{"aten._foreach_norm", foreach}.any_dtype(),
    OpBody{"aten._foreach_pow", foreach}.any_dtype(),
    OpBody{"aten._foreach_reciprocal", foreach}.any_dtype(),
    OpBody{"aten._foreach_round", foreach}.any_dtype(),
    OpBody{"aten._foreach_rsqrt", foreach}.any_dtype(),
    OpBody{"aten._foreach_sigmoid", foreach}.any_dtype(),
    OpBody{"aten._foreach_sign", foreach}.any_dtype(),
    OpBody{"aten._foreach_sin", foreach}.any_dtype(),
    OpBody{"aten._foreach_sinh", foreach}.any_dtype(),
    OpBody{"aten._foreach_sqrt", foreach}.any_dtype(),
    OpBody{"aten._foreach_sub", foreach}.any_dtype(),
    OpBody{"aten._foreach_tan", foreach}.any_dtype(),
    OpBody{"aten._foreach_tanh", foreach}.any_dtype(),
    OpBody{"aten._foreach_trunc", foreach}.any_dtype(),
    OpBody{"aten._foreach_zero", foreach}.any_dtype(),
};

}  // namespace

std::span<const OpBody> foreach_ops() { return kForeachOps; }

}  // namespace graphgate::reference
