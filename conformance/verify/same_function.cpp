#include "conformance/verify/same_function.h"

#include <algorithm>

namespace graphgate::verify {
namespace {

// Families of a line may be one function; a family may be in several.
constexpr std::string_view kOneFunction[] = {
    // Values of some range stay as they are.
    "_conj_physical _prelu_kernel abs absolute ceil celu clamp clamp_max clamp_min clip clone "
    "conj_physical elu fix floor hardshrink hardtanh leaky_relu nan_to_num positive prelu "
    "relu relu6 round rrelu rrelu_with_noise selu softplus softshrink special_round threshold "
    "trunc",
    // NaN alone, zeros of either sign, or signs of operands tell them apart.
    "clamp clamp_max clip fmin min minimum",
    "clamp clamp_min clip fmax max maximum",
    "mean nanmean",
    "nansum sum",
    "fmod remainder",
    "float_power pow",
    // Two names.
    "__and__ bitwise_and",
    "__lshift__ bitwise_left_shift",
    "__or__ bitwise_or",
    "__rshift__ bitwise_right_shift",
    "__xor__ bitwise_xor",
    "acos arccos",
    "acosh arccosh",
    "amax max",
    "amin min",
    "arcsin asin",
    "arcsinh asinh",
    "arctan atan",
    "arctan2 atan2",
    "arctanh atanh",
    "digamma special_digamma special_psi",
    "div divide true_divide",
    "erf special_erf",
    "erfc special_erfc",
    "erfinv special_erfinv",
    "exp2 special_exp2",
    "expm1 special_expm1",
    "ge greater_equal",
    "greater gt",
    "i0 special_i0 special_modified_bessel_i0",
    "igamma special_gammainc",
    "igammac special_gammaincc",
    "le less_equal",
    "less lt",
    "lgamma special_gammaln",
    "linalg_vector_norm norm",
    "log1p special_log1p",
    "logit special_logit",
    "mul multiply",
    "mvlgamma special_multigammaln",
    "ne not_equal",
    "neg negative",
    "polygamma special_polygamma",
    "sgn sign",
    "sigmoid special_expit",
    "sinc special_sinc",
    "special_i1 special_modified_bessel_i1",
    "special_xlogy xlogy",
    "sub subtract",
};

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || line[at - 1] == ' ') && (end == line.size() || line[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

bool may_be_one_function(std::string_view family, std::string_view other) {
  return family == other || std::ranges::any_of(kOneFunction, [&](std::string_view line) {
           return has_word(line, family) && has_word(line, other);
         });
}

}  // namespace graphgate::verify
