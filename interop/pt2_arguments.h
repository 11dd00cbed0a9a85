// Small conventions that the reader and the writer of .pt2 graphs share.
#pragma once

#include <string>
#include <string_view>

#include "spec/program.h"

namespace graphgate::interop {

// A result that is None has no name in an archive; this is the one it gets, unless the node's own
// metadata says another.
[[nodiscard]] inline std::string default_none_name(const std::string& node_name,
                                                   std::size_t index) {
  return node_name + "_none_" + std::to_string(index);
}

// The path of a subgraph: "" is the program's own graph.
[[nodiscard]] inline std::string subgraph_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

// Graphs nested deeper than this are refused, by reader and writer alike.
inline constexpr int kMaxGraphDepth = 32;

// What stands in a signature by a name: the member that says the kind, and the target's in it.
template <class Kind>
struct NamedKind {
  std::string_view word;
  std::string_view target_key;
  Kind kind;
};
inline constexpr NamedKind<spec::InputKind> kNamedInputs[] = {
    {"parameter", "parameter_name", spec::InputKind::kParameter},
    {"buffer", "buffer_name", spec::InputKind::kBuffer},
    {"tensor_constant", "tensor_constant_name", spec::InputKind::kTensorConstant},
};
inline constexpr NamedKind<spec::OutputKind> kNamedOutputs[] = {
    {"buffer_mutation", "buffer_name", spec::OutputKind::kBufferMutation},
    {"user_input_mutation", "user_input_name", spec::OutputKind::kUserInputMutation},
    {"parameter_mutation", "parameter_name", spec::OutputKind::kParameterMutation},
};

}  // namespace graphgate::interop
