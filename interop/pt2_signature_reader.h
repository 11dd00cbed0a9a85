// The signature of a .pt2 -> Program::inputs and Program::outputs, and its weights -> tensors.
//
// Called by pt2_reader.cpp once the graph is complete.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "interop/json_cursor.h"
#include "interop/pt2_graph_reader.h"
#include "interop/zip_archive.h"
#include "spec/program.h"

namespace graphgate::interop {

// Reads `signature` against the finished graph. The specs must match the graph's inputs and outputs
// one by one, in number, order and name. Tokens that the graph has dropped are left out,
// `token_outputs` of them outputs. Kinds that the project has not (other tokens, custom objects,
// losses, gradients) are kUnsupported.
[[nodiscard]] Result<void> read_signature(const JsonCursor& signature,
                                          const std::vector<InputSlot>& slots,
                                          std::size_t token_outputs, spec::Program& program);

// A payload's entry in a weights or constants config, with its bytes.
struct Payload {
  spec::HostTensor tensor;
  bool is_param = false;
  bool requires_grad = false;
};
using Payloads = std::map<std::string, Payload, std::less<>>;

// Reads every payload that `config_entry` lists from `folder` ("ROOT/data/weights/"). Payloads that
// name the same file share a storage; each geometry must lie inside its file.
[[nodiscard]] Result<void> read_payloads(const ZipReader& archive, const std::string& config_entry,
                                         const std::string& folder, Payloads& payloads);

// Gives each parameter, buffer and constant its payload: it must be there, and be of the dtype and
// sizes that the graph declares. Payloads that no input names are left out. Notes parameters
// without gradient in the annotations.
[[nodiscard]] Result<void> attach_payloads(const Payloads& payloads, const std::string& place,
                                           spec::Program& program);

}  // namespace graphgate::interop
