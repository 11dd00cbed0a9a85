// Names that PyTorch documents as aliases of others: same arguments, same results.
#include <array>

#include "reference/registry.h"

namespace graphgate::reference {
namespace {

constexpr std::array kSynonyms = {
    Synonym{"aten.__iand__", "aten.__and__"},
    Synonym{"aten.__ior__", "aten.__or__"},
    Synonym{"aten.__ixor__", "aten.__xor__"},
    Synonym{"aten.absolute", "aten.abs"},
    Synonym{"aten.adjoint", "aten.mH"},
    Synonym{"aten.arccos", "aten.acos"},
    Synonym{"aten.arccosh", "aten.acosh"},
    Synonym{"aten.arcsin", "aten.asin"},
    Synonym{"aten.arcsinh", "aten.asinh"},
    Synonym{"aten.arctan", "aten.atan"},
    Synonym{"aten.arctan2", "aten.atan2"},
    Synonym{"aten.arctanh", "aten.atanh"},
    Synonym{"aten.argwhere", "aten.nonzero"},
    Synonym{"aten.clip", "aten.clamp"},
    Synonym{"aten.divide", "aten.div"},
    Synonym{"aten.fix", "aten.trunc"},
    Synonym{"aten.ger", "aten.outer"},
    Synonym{"aten.greater", "aten.gt"},
    Synonym{"aten.greater_equal", "aten.ge"},
    Synonym{"aten.less", "aten.lt"},
    Synonym{"aten.less_equal", "aten.le"},
    Synonym{"aten.linalg_matmul", "aten.matmul"},
    Synonym{"aten.matrix_exp", "aten.linalg_matrix_exp"},
    Synonym{"aten.matrix_power", "aten.linalg_matrix_power"},
    Synonym{"aten.moveaxis", "aten.movedim"},
    Synonym{"aten.multiply", "aten.mul"},
    Synonym{"aten.negative", "aten.neg"},
    Synonym{"aten.not_equal", "aten.ne"},
    Synonym{"aten.row_stack", "aten.vstack"},
    Synonym{"aten.special_digamma", "aten.digamma"},
    Synonym{"aten.special_erf", "aten.erf"},
    Synonym{"aten.special_erfc", "aten.erfc"},
    Synonym{"aten.special_erfinv", "aten.erfinv"},
    Synonym{"aten.special_exp2", "aten.exp2"},
    Synonym{"aten.special_expit", "aten.sigmoid"},
    Synonym{"aten.special_expm1", "aten.expm1"},
    Synonym{"aten.special_gammainc", "aten.igamma"},
    Synonym{"aten.special_gammaincc", "aten.igammac"},
    Synonym{"aten.special_gammaln", "aten.lgamma"},
    Synonym{"aten.special_i0", "aten.i0"},
    Synonym{"aten.special_log1p", "aten.log1p"},
    Synonym{"aten.special_log_softmax", "aten.log_softmax"},
    Synonym{"aten.special_logit", "aten.logit"},
    Synonym{"aten.special_logsumexp", "aten.logsumexp"},
    Synonym{"aten.special_multigammaln", "aten.mvlgamma"},
    Synonym{"aten.special_polygamma", "aten.polygamma"},
    Synonym{"aten.special_psi", "aten.digamma"},
    Synonym{"aten.special_round", "aten.round"},
    Synonym{"aten.special_sinc", "aten.sinc"},
    Synonym{"aten.special_softmax", "aten.softmax"},
    Synonym{"aten.special_xlogy", "aten.xlogy"},
    Synonym{"aten.subtract", "aten.sub"},
    Synonym{"aten.swapdims", "aten.transpose"},
    Synonym{"aten.trapz", "aten.trapezoid"},
    Synonym{"aten.true_divide", "aten.div"},
};

}  // namespace

std::span<const Synonym> synonyms() { return kSynonyms; }

}  // namespace graphgate::reference
