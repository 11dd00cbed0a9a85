// Names of ops that do what others do, as PyTorch's documentation says of each.
#include "optimized/synonyms.h"

#include <unordered_map>

namespace graphgate::optimized {

std::string_view same_op_as(std::string_view base_name) {
  static const std::unordered_map<std::string_view, std::string_view> kNames = {
      {"aten.__iand__", "aten.__and__"},
      {"aten.__ior__", "aten.__or__"},
      {"aten.__ixor__", "aten.__xor__"},
      {"aten.absolute", "aten.abs"},
      {"aten.adjoint", "aten.mH"},
      {"aten.arccos", "aten.acos"},
      {"aten.arccosh", "aten.acosh"},
      {"aten.arcsin", "aten.asin"},
      {"aten.arcsinh", "aten.asinh"},
      {"aten.arctan", "aten.atan"},
      {"aten.arctan2", "aten.atan2"},
      {"aten.arctanh", "aten.atanh"},
      {"aten.argwhere", "aten.nonzero"},
      {"aten.clip", "aten.clamp"},
      {"aten.divide", "aten.div"},
      {"aten.fix", "aten.trunc"},
      {"aten.ger", "aten.outer"},
      {"aten.greater", "aten.gt"},
      {"aten.greater_equal", "aten.ge"},
      {"aten.less", "aten.lt"},
      {"aten.less_equal", "aten.le"},
      {"aten.linalg_matmul", "aten.matmul"},
      {"aten.matrix_exp", "aten.linalg_matrix_exp"},
      {"aten.moveaxis", "aten.movedim"},
      {"aten.multiply", "aten.mul"},
      {"aten.negative", "aten.neg"},
      {"aten.not_equal", "aten.ne"},
      {"aten.row_stack", "aten.vstack"},
      {"aten.special_digamma", "aten.digamma"},
      {"aten.special_erf", "aten.erf"},
      {"aten.special_erfc", "aten.erfc"},
      {"aten.special_erfinv", "aten.erfinv"},
      {"aten.special_exp2", "aten.exp2"},
      {"aten.special_expit", "aten.sigmoid"},
      {"aten.special_expm1", "aten.expm1"},
      {"aten.special_gammainc", "aten.igamma"},
      {"aten.special_gammaincc", "aten.igammac"},
      {"aten.special_gammaln", "aten.lgamma"},
      {"aten.special_i0", "aten.i0"},
      {"aten.special_log1p", "aten.log1p"},
      {"aten.special_log_softmax", "aten.log_softmax"},
      {"aten.special_logit", "aten.logit"},
      {"aten.special_logsumexp", "aten.logsumexp"},
      {"aten.special_multigammaln", "aten.mvlgamma"},
      {"aten.special_polygamma", "aten.polygamma"},
      {"aten.special_psi", "aten.digamma"},
      {"aten.special_round", "aten.round"},
      {"aten.special_sinc", "aten.sinc"},
      {"aten.special_softmax", "aten.softmax"},
      {"aten.special_xlogy", "aten.xlogy"},
      {"aten.subtract", "aten.sub"},
      {"aten.swapdims", "aten.transpose"},
      {"aten.trapz", "aten.trapezoid"},
      {"aten.true_divide", "aten.div"},
  };
  const auto found = kNames.find(base_name);
  return found == kNames.end() ? std::string_view() : found->second;
}

}  // namespace graphgate::optimized
