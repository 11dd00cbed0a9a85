// torch.export archives (.pt2) -> spec::Program.
//
// An archive is a zip of stored entries below one folder:
//   ROOT/models/NAME.json                          the program, schema major 8
//   ROOT/data/weights/NAME_weights_config.json     parameters and persistent buffers
//   ROOT/data/constants/NAME_constants_config.json other buffers and tensor constants
//   ROOT/data/weights/weight_N, ROOT/data/constants/tensor_N   raw little-endian bytes
// The pickle in ROOT/data/sample_inputs is never opened.
//
// The program's JSON is parsed as a stream, a node at a time, and weights are read into their
// storages: nothing large is held twice. Names that share a file share a HostStorage.
//
// Errors: kBadInput with the place for what is wrong, kUnsupported with the reason for what is
// right and has no counterpart in spec::Program (pickled weights, custom objects,
// tokens).
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "spec/program.h"

namespace graphgate::spec {
class OpTable;
}

namespace graphgate::interop {

struct Pt2Options {
  // When set, the program is also checked against the ops' schemas (spec::check_program).
  const spec::OpTable* ops = nullptr;
};

[[nodiscard]] Result<spec::Program> read_pt2(const std::string& path,
                                             const Pt2Options& options = {});
// The same from memory; `name` stands for the file in messages.
[[nodiscard]] Result<spec::Program> read_pt2_bytes(std::span<const std::byte> bytes,
                                                   std::string name,
                                                   const Pt2Options& options = {});

// Program::annotations that read_pt2 sets and write_pt2 reads: JSON texts under these keys. What a
// program lacks of them, write_pt2 makes up.
inline constexpr const char* kModuleCallGraphKey = "torch.module_call_graph";
inline constexpr const char* kOpsetVersionKey = "torch.opset_version";
inline constexpr const char* kVerifiersKey = "torch.verifiers";
inline constexpr const char* kGuardsCodeKey = "torch.guards_code";
inline constexpr const char* kTorchVersionKey = "torch.torch_version";
inline constexpr const char* kSchemaVersionKey = "torch.schema_version";
inline constexpr const char* kMetadataKey = "torch.metadata";
inline constexpr const char* kNamedTuplesKey = "torch.treespec_namedtuple_fields";
// These keys are present only when they say something. They hold ranges of compound expressions,
// and symbolic values without an integer expression ("GRAPH/VALUE" -> as written). They also hold
// graphs, and nodes of higher-order ops, that return a bare tensor and not a tuple, and parameters
// in floating point that want no gradient.
inline constexpr const char* kOtherRangesKey = "torch.range_constraints";
inline constexpr const char* kOpaqueValuesKey = "torch.opaque_values";
inline constexpr const char* kSingleReturnsKey = "torch.single_tensor_returns";
inline constexpr const char* kBareNodesKey = "torch.single_tensor_nodes";
inline constexpr const char* kFrozenParametersKey = "torch.parameters_without_grad";

// In the metadata of the program (a string map that PyTorch carries and ignores), write_pt2 keeps
// under this key what the schema has no place for. It is JSON: {"name", "graph_name",
// "annotations", "made_up": [keys], "hints": {symbol: hint}, "values": {"GRAPH/WRITTEN": name}}. In
// the metadata of a node: {"name", "nones": [names]}. Names are kept where PyTorch would not accept
// them.
inline constexpr const char* kOwnMetadataKey = "graphgate";

}  // namespace graphgate::interop
