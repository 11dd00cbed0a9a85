#include "tools/store/promises.h"

#include <algorithm>
#include <set>

#include "base/join_words.h"
#include "interop/json_fields.h"
#include "reference/number/arithmetic.h"
#include "spec/text_lexer.h"

namespace graphgate::tools {
namespace {

// "a, b or c".
std::string one_of(std::vector<std::string> words) {
  const std::string last = words.back();
  words.pop_back();
  return join_words(words, ", ") + " or " + last;
}

// Returns the member, one of these words: the first where it is missing. An error names them all.
Result<std::string> read_choice(const interop::JsonCursor& object, const char* name,
                                const std::vector<std::string>& words) {
  std::string word = words.front();
  GRAPHGATE_TRY_VOID(read_optional(object, name, word));
  if (std::ranges::find(words, word) != words.end()) return word;
  return object.error(std::string(name) + ": expected " + one_of(words) + ", found '" + word + "'");
}

// The short names of 16-bit dtypes, in order.
Result<std::vector<std::string>> read_split_sums(const interop::JsonCursor& object) {
  std::set<std::string> names;
  GRAPHGATE_TRY_VOID(
      read_list(object, "split_sums", [&](const interop::JsonCursor& element) -> Result<void> {
        GRAPHGATE_TRY(const std::string name, element.as_string());
        const auto dtype = spec::parse_dtype(name);
        reference::Arithmetic arithmetic;
        if (!dtype || !arithmetic.declare_splits(*dtype)) {
          return element.error("expected f16 or bf16, found '" + name + "'");
        }
        names.emplace(spec::short_name(*dtype));
        return {};
      }));
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace

Result<conformance::Promises> read_promises(const interop::JsonCursor& object) {
  conformance::Promises promises;
  GRAPHGATE_TRY_VOID(read_optional(object, "arithmetic", promises.arithmetic));
  const auto arithmetic = reference::parse_arithmetic(promises.arithmetic);
  if (!arithmetic) {
    return object.error("arithmetic: expected " + reference::arithmetic_names() + ", found '" +
                        promises.arithmetic + "'");
  }
  promises.rounds_results = !arithmetic->keeps_wide;
  GRAPHGATE_TRY(promises.kernels, read_choice(object, "kernels", {"cpu", "cuda", "own"}));
  GRAPHGATE_TRY(promises.split_sums, read_split_sums(object));
  GRAPHGATE_TRY_VOID(
      read_list(object, "tf32", [&](const interop::JsonCursor& element) -> Result<void> {
        GRAPHGATE_TRY(const std::string name, element.as_string());
        if (name != "convolution")
          return element.error("expected convolution, found '" + name + "'");
        promises.has_tf32_convolutions = true;
        return {};
      }));
  GRAPHGATE_TRY(const std::string layouts, read_choice(object, "layouts", {"kept", "free"}));
  promises.keeps_layouts = layouts == "kept";
  std::string torch(spec::kOpenTorchRelease);
  GRAPHGATE_TRY_VOID(read_optional(object, "torch", torch));
  promises.torch = {};
  if (torch != spec::kOpenTorchRelease) {
    const auto release = spec::parse_torch_release(torch);
    if (!release) {
      return object.error("torch: expected a version of PyTorch as 2.15.0, found '" + torch + "'");
    }
    promises.torch = *release;
  }
  return promises;
}

Result<fuzz::SubjectLimits> read_limits(const interop::JsonCursor& object) {
  fuzz::SubjectLimits limits;
  const auto read = [&](const char* name, std::vector<std::string>& words) {
    return read_list(object, name, words,
                     [](const interop::JsonCursor& element) -> Result<std::string> {
                       GRAPHGATE_TRY(std::string word, element.as_string());
                       if (spec::is_word(word)) return word;
                       return element.error("expected a word, found '" + word + "'");
                     });
  };
  GRAPHGATE_TRY_VOID(read("devices", limits.devices));
  GRAPHGATE_TRY_VOID(read("not_wrapped", limits.not_wrapped));
  GRAPHGATE_TRY_VOID(read("ops", limits.ops));
  return limits;
}

const char* layouts_word(const conformance::Promises& promises) {
  return promises.keeps_layouts ? "kept" : "free";
}

}  // namespace graphgate::tools
