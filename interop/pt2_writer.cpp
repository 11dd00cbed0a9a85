#include "interop/pt2_writer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <vector>

#include "interop/json_stream.h"
#include "interop/pt2_graph_writer.h"
#include "interop/zip_archive.h"
#include "spec/op_table.h"

namespace graphgate::interop {

using spec::HostStorage;
using spec::InputKind;
using spec::Program;

namespace {

// A member of the program's JSON that an annotation carries, and what is made up without one.
struct CarriedMember {
  const char* annotation;
  const char* made_up;
};
constexpr std::array<CarriedMember, 6> kTopMembers = {{
    {kOpsetVersionKey, R"({"aten": 10})"},
    {kVerifiersKey, R"(["TRAINING"])"},
    {kGuardsCodeKey, "[]"},
    {kTorchVersionKey, R"("2.11.0")"},
    {kSchemaVersionKey, R"({"major": 8, "minor": 17})"},
    {kNamedTuplesKey, "{}"},
}};

// Annotations that the writer puts elsewhere than under their own names.
constexpr std::array<const char*, 7> kPlacedElsewhere = {
    kModuleCallGraphKey, kMetadataKey,  kOtherRangesKey,     kOpaqueValuesKey,
    kSingleReturnsKey,   kBareNodesKey, kFrozenParametersKey};

Result<Json> annotation_json(const Program& program, const char* key, const char* fallback) {
  const auto found = program.annotations.find(key);
  if (found == program.annotations.end()) return parse_json(fallback, key);
  return parse_json(found->second, "annotation " + std::string(key));
}

Result<void> insert_strings(const Program& program, const char* key,
                            std::set<std::string, std::less<>>& out) {
  GRAPHGATE_TRY(const Json list, annotation_json(program, key, "[]"));
  const JsonCursor root(list, "annotation " + std::string(key));
  GRAPHGATE_TRY(const auto cursors, root.elements());
  for (const JsonCursor& cursor : cursors) {
    GRAPHGATE_TRY(std::string text, cursor.as_string());
    out.insert(std::move(text));
  }
  return {};
}

// What the op table knows of ops outside PyTorch and a schema cannot say. PyTorch's own ops do
// there what they do here, whatever their schemas leave out (batch_norm in training writes its
// statistics).
Result<void> check_ops(const spec::Graph& graph, const spec::OpTable& ops) {
  for (const spec::Node& node : graph.nodes) {
    const spec::OpRow* row = ops.find(node.op);
    if (row == nullptr || row->schema.ns == "aten") continue;
    const char* what = !row->undeclared_writes.empty()     ? "undeclared writes"
                       : !row->hidden_state_reads.empty()  ? "hidden state"
                       : !row->hidden_state_writes.empty() ? "hidden state"
                       : !row->orders.empty()              ? "ordering tokens"
                                                           : nullptr;
    if (what == nullptr) continue;
    return unsupported("PyTorch's schema cannot say that " + node.op + " has " + what)
        .at("node '" + node.name + "'");
  }
  for (const spec::Graph& subgraph : graph.subgraphs) {
    GRAPHGATE_TRY_VOID(check_ops(subgraph, ops));
  }
  return {};
}

Result<void> fill_context(WriteContext& context) {
  const Program& program = context.program;
  for (const auto& [name, info] : program.symbols) {
    if (info.hint) context.hints.emplace(name, *info.hint);
  }
  GRAPHGATE_TRY(context.opaque_values, annotation_json(program, kOpaqueValuesKey, "{}"));
  GRAPHGATE_TRY_VOID(insert_strings(program, kBareNodesKey, context.bare_nodes));
  GRAPHGATE_TRY_VOID(insert_strings(program, kSingleReturnsKey, context.bare_graphs));
  std::set<std::string, std::less<>> frozen;
  GRAPHGATE_TRY_VOID(insert_strings(program, kFrozenParametersKey, frozen));
  for (const std::size_t i : program.inputs_of(InputKind::kParameter)) {
    const spec::Value& value = program.graph.value(program.inputs[i].value);
    const bool has_grad =
        value.type && spec::is_floating_point(spec::component_dtype(value.type->dtype));
    if (has_grad && !frozen.contains(program.inputs[i].target)) {
      context.grad_values.insert(value.name);
    }
  }
  return {};
}

// One folder of payloads: files, and the config that says which name is in which file.
struct Folder {
  std::string prefix;  // "weight_"
  std::string config = "{\"config\": {";
  std::vector<const HostStorage*> files;
  std::unordered_map<const HostStorage*, std::size_t> indices;
  std::unordered_map<const HostStorage*, spec::DType> dtypes;
};

Result<void> add_payload(Folder& folder, const std::string& name, const spec::HostTensor& tensor,
                         bool is_param, WriteContext& context, bool wants_grad) {
  const HostStorage* storage = tensor.storage.get();
  const auto [index, is_new] = folder.indices.try_emplace(storage, folder.files.size());
  if (is_new) folder.files.push_back(storage);
  const auto [dtype, is_first] = folder.dtypes.try_emplace(storage, tensor.dtype);
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(tensor.dtype));
  if (dtype->second != tensor.dtype) {
    return unsupported("its storage is shared by tensors of other dtypes").at(name);
  }
  if (storage->bytes.size() % item != 0) {
    return unsupported("its storage is no whole number of elements").at(name);
  }
  spec::TensorType type;
  type.dtype = tensor.dtype;
  type.device = tensor.device;
  type.sizes.assign(tensor.sizes.begin(), tensor.sizes.end());
  type.strides.assign(tensor.strides.begin(), tensor.strides.end());
  type.storage_offset = tensor.storage_offset;
  GRAPHGATE_TRY(const std::string meta, tensor_meta(type, wants_grad, context));
  folder.config += (folder.config.ends_with('{') ? "" : ", ") + json_text(name) +
                   ": {\"path_name\": \"" + folder.prefix + std::to_string(index->second) +
                   "\", \"is_param\": " + (is_param ? "true" : "false") +
                   ", \"use_pickle\": false, \"tensor_meta\": " + meta + "}";
  return {};
}

struct Payloads {
  Folder weights{"weight_", "{\"config\": {", {}, {}, {}};
  Folder constants{"tensor_", "{\"config\": {", {}, {}, {}};
};

Result<Payloads> collect_payloads(WriteContext& context) {
  const Program& program = context.program;
  Payloads payloads;
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind == InputKind::kUserInput) continue;
    const auto tensor = program.tensors.find(input.target);
    if (tensor == program.tensors.end()) {
      return unsupported("'" + input.target + "' has no bytes, and an archive needs them");
    }
    const bool is_param = input.kind == InputKind::kParameter;
    const bool is_weight = is_param || (input.kind == InputKind::kBuffer && input.persistent);
    Folder& own = is_weight ? payloads.weights : payloads.constants;
    const Folder& other = is_weight ? payloads.constants : payloads.weights;
    if (other.indices.contains(tensor->second.storage.get())) {
      return unsupported("'" + input.target +
                         "' shares its storage across weights and constants, which archives keep "
                         "apart");
    }
    const bool wants_grad =
        is_param && context.grad_values.contains(program.graph.value(input.value).name);
    GRAPHGATE_TRY_VOID(
        add_payload(own, input.target, tensor->second, is_param, context, wants_grad));
  }
  payloads.weights.config += "}}";
  payloads.constants.config += "}}";
  return payloads;
}

std::string ranges_text(const Program& program, const Json& others) {
  Json ranges = others;
  for (const auto& [name, info] : program.symbols) {
    const bool is_bounded = info.min != std::numeric_limits<std::int64_t>::min();
    ranges[name] = {{"min_val", is_bounded ? Json(info.min) : Json()},
                    {"max_val", info.max ? Json(*info.max) : Json()}};
  }
  return ranges.dump();
}

// The folder of the archive: the program's name where it can be one.
std::string root_name(const std::string& name) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  const bool is_good =
      !name.empty() && name[0] != '.' && std::all_of(name.begin(), name.end(), is_plain);
  return is_good ? name : "program";
}

// kOwnMetadataKey: see pt2_reader.h.
std::string own_metadata(const WriteContext& context, const Json& made_up) {
  const Program& program = context.program;
  Json own = Json::object();
  if (root_name(program.name) != program.name) own["name"] = program.name;
  if (!program.graph.name.empty()) own["graph_name"] = program.graph.name;
  if (!made_up.empty()) own["made_up"] = made_up;
  if (!context.renamed_values.empty()) own["values"] = context.renamed_values;
  for (const auto& [symbol, hint] : context.hints) {
    if (!context.shown_hints.contains(symbol)) own["hints"][symbol] = hint;
  }
  const auto has_place = [](const std::string& key) {
    const auto is_key = [&](const char* known) { return key == known; };
    return std::any_of(kPlacedElsewhere.begin(), kPlacedElsewhere.end(), is_key) ||
           std::any_of(kTopMembers.begin(), kTopMembers.end(),
                       [&](const CarriedMember& member) { return key == member.annotation; });
  };
  for (const auto& [key, text] : program.annotations) {
    if (!has_place(key)) own["annotations"][key] = text;
  }
  return own.empty() ? "" : own.dump();
}

Result<std::string> model_text(WriteContext& context) {
  const Program& program = context.program;
  const WrittenNames names(program.graph, "", context);
  Json made_up = Json::array();
  for (const CarriedMember& member : kTopMembers) {
    if (!program.annotations.contains(member.annotation)) made_up.push_back(member.annotation);
  }
  for (const char* key : {kModuleCallGraphKey, kMetadataKey}) {
    if (!program.annotations.contains(key)) made_up.push_back(key);
  }
  std::string out = "{\"graph_module\": {\"graph\": ";
  GRAPHGATE_TRY_VOID(write_graph(program.graph, names, "", 0, context, out));
  GRAPHGATE_TRY(const std::string signature, write_signature(names, context));
  out += ", \"signature\": " + signature + ", \"module_call_graph\": ";
  const std::string default_calls = default_call_graph(names, program);
  GRAPHGATE_TRY(const Json calls,
                annotation_json(program, kModuleCallGraphKey, default_calls.c_str()));
  GRAPHGATE_TRY(Json metadata, annotation_json(program, kMetadataKey, "{}"));
  if (!metadata.is_object()) return bad_input("expected an object").at(kMetadataKey);
  const std::string own = own_metadata(context, made_up);
  if (!own.empty()) metadata[kOwnMetadataKey] = own;
  GRAPHGATE_TRY(const Json tuples, annotation_json(program, kNamedTuplesKey, "{}"));
  out += calls.dump() + ", \"metadata\": " + metadata.dump() +
         ", \"treespec_namedtuple_fields\": " + tuples.dump() + "}";
  GRAPHGATE_TRY(const Json other_ranges, annotation_json(program, kOtherRangesKey, "{}"));
  out += ", \"range_constraints\": " + ranges_text(program, other_ranges);
  for (const CarriedMember& member : kTopMembers) {
    const std::string_view key(member.annotation);
    if (key == kNamedTuplesKey) continue;
    GRAPHGATE_TRY(const Json value, annotation_json(program, member.annotation, member.made_up));
    out += ", " + json_text(key.substr(std::string_view("torch.").size())) + ": " + value.dump();
  }
  return out + "}";
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

void add_files(const Folder& folder, const std::string& place, std::vector<ZipEntry>& entries) {
  for (std::size_t i = 0; i < folder.files.size(); ++i) {
    entries.push_back({place + folder.prefix + std::to_string(i), folder.files[i]->bytes});
  }
}

Result<void> write_checked(const Program& program, const std::string& path,
                           const spec::OpTable& ops) {
  WriteContext context{program, ops, {}, {}, {}, {}, {}, {}, {}};
  GRAPHGATE_TRY_VOID(fill_context(context));
  GRAPHGATE_TRY(const Payloads payloads, collect_payloads(context));
  GRAPHGATE_TRY(const std::string model, model_text(context));
  const std::string format = "pt2";
  const std::string archive_version = "0";
  const std::string zip_version = "6\n";
  const std::string order = "little";
  const std::string root = root_name(program.name) + "/";
  std::vector<ZipEntry> entries = {
      {root + "archive_format", bytes_of(format)},
      {root + "archive_version", bytes_of(archive_version)},
      {root + "byteorder", bytes_of(order)},
      {root + ".data/version", bytes_of(zip_version)},
      {root + "models/model.json", bytes_of(model)},
      // Empty: PyTorch takes that for a program without sample inputs. Any other content must be a
      // pickle of inputs that fit the program, which `.module()` binds.
      {root + "data/sample_inputs/model.pt", {}},
      {root + "data/weights/model_weights_config.json", bytes_of(payloads.weights.config)},
      {root + "data/constants/model_constants_config.json", bytes_of(payloads.constants.config)}};
  add_files(payloads.weights, root + "data/weights/", entries);
  add_files(payloads.constants, root + "data/constants/", entries);
  return write_zip(path, entries);
}

}  // namespace

Result<void> write_pt2(const Program& program, const std::string& path, const Pt2Options& options) {
  if (options.ops != nullptr) GRAPHGATE_TRY_VOID(check_ops(program.graph, *options.ops));
  try {
    const bool has_ops = options.ops != nullptr;
    return write_checked(program, path, has_ops ? *options.ops : spec::builtin_op_table());
  } catch (const Json::exception&) {
    // The JSON library throws on text that is no UTF-8; nothing was written.
    return bad_input("a name or text in the program is not UTF-8").at(path);
  }
}

}  // namespace graphgate::interop
