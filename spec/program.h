// A program: a graph, what its inputs and outputs are, its symbols, and its parameters' bytes.
//
// The shape is torch.export's: every parameter, buffer and constant is an input of the graph, and
// a functionalized program lists its mutations as leading outputs. A program exported without
// decomposition lists none: its mutations follow from the schemas alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spec/graph.h"

namespace graphgate::spec {

enum class InputKind : std::uint8_t {
  kParameter,
  kBuffer,
  kTensorConstant,
  kUserInput,
};

// Graph::inputs[i] is described by Program::inputs[i]. `target` is the fully qualified name of a
// parameter, buffer or constant ("layers.0.weight"); for a user input it is the value's name.
// A user input that is a constant in the exported program (None, a number) has no graph input: its
// `constant` is set and `value` is meaningless.
struct ProgramInput {
  InputKind kind = InputKind::kUserInput;
  ValueId value;
  std::string target;
  bool persistent = true;  // buffers only: whether it belongs to the state dict
  std::optional<Argument> constant;
  friend bool operator==(const ProgramInput&, const ProgramInput&) = default;
};

enum class OutputKind : std::uint8_t {
  kUserOutput,
  kBufferMutation,     // the new contents of buffer `target`
  kUserInputMutation,  // the new contents of user input `target`
  kParameterMutation,
};

// Graph::outputs[i] is described by Program::outputs[i].
struct ProgramOutput {
  OutputKind kind = OutputKind::kUserOutput;
  std::string target;  // empty for user outputs
  friend bool operator==(const ProgramOutput&, const ProgramOutput&) = default;
};

struct Program {
  std::string name;
  Graph graph;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOutput> outputs;
  std::map<std::string, SymbolInfo, std::less<>> symbols;

  // Bytes of parameters, buffers and constants by `target`. Names may share a storage.
  std::map<std::string, HostTensor, std::less<>> tensors;

  // Facts of the interchange form that mean nothing here and are carried through unread
  // ("torch.in_spec" -> a pytree spec in JSON): what PyTorch needs to load the archive again.
  std::map<std::string, std::string> annotations;

  // The indices of inputs of one kind, in order.
  [[nodiscard]] std::vector<std::size_t> inputs_of(InputKind kind) const;
  // The index of the input with this target, or nullopt.
  [[nodiscard]] std::optional<std::size_t> find_input(InputKind kind,
                                                      std::string_view target) const;
};

// Equal programs: the same graph, signature, symbols and annotations, tensors of the same geometry
// and elements, and the same sharing of storages between them.
[[nodiscard]] bool same_program(const Program& a, const Program& b);

}  // namespace graphgate::spec
