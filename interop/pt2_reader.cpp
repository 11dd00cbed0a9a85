#include "interop/pt2_reader.h"

#include <array>
#include <limits>
#include <set>

#include "base/file_io.h"
#include "interop/json_fields.h"
#include "interop/json_stream.h"
#include "interop/pt2_graph_reader.h"
#include "interop/pt2_own_metadata.h"
#include "interop/pt2_signature_reader.h"
#include "interop/pt2_types.h"
#include "interop/zip_archive.h"
#include "spec/graph_check.h"

namespace graphgate::interop {

using spec::Program;
using spec::ValueKind;

namespace {

constexpr std::int64_t kSchemaMajor = 8;

// Members that are taken whole, by path, and the annotation that carries them (none: read below).
struct WholeMember {
  std::string_view path;
  const char* annotation;
};
constexpr std::array<WholeMember, 10> kWholeMembers = {{
    {"schema_version", kSchemaVersionKey},
    {"opset_version", kOpsetVersionKey},
    {"verifiers", kVerifiersKey},
    {"torch_version", kTorchVersionKey},
    {"guards_code", kGuardsCodeKey},
    {"range_constraints", nullptr},
    {"graph_module.signature", nullptr},
    {"graph_module.module_call_graph", kModuleCallGraphKey},
    {"graph_module.metadata", kMetadataKey},
    {"graph_module.treespec_namedtuple_fields", kNamedTuplesKey},
}};

// Containers that are walked, a member at a time.
constexpr std::array<std::string_view, 8> kWalked = {"graph_module",
                                                     "graph_module.graph",
                                                     "graph_module.graph.nodes",
                                                     "graph_module.graph.tensor_values",
                                                     "graph_module.graph.sym_int_values",
                                                     "graph_module.graph.sym_bool_values",
                                                     "graph_module.graph.sym_float_values",
                                                     "graph_module.graph.custom_obj_values"};

bool is_walked(const std::string& path) {
  return path.empty() || std::find(kWalked.begin(), kWalked.end(), path) != kWalked.end();
}

// Collects the program's JSON as it streams by.
class ProgramVisitor : public JsonVisitor {
 public:
  explicit ProgramVisitor(std::string place) : place_(std::move(place)), graph_(context_, "", 0) {}

  bool wants(const JsonPath& path) override {
    if (path.size() > 4 || path.empty()) return false;
    if (path[0].is_element) return true;             // take() refuses an array
    if (path.size() == 4) return is_in_graph(path);  // an element of nodes, a member of *_values
    const std::string text = print_path(path);
    // What is walked but no container arrives as a whole, and take() refuses it.
    if (is_walked(text)) return false;
    return path.size() < 3 ? whole_member(text) != nullptr
                           : text.starts_with("graph_module.graph.");
  }

  Result<void> take(const JsonPath& path, Json&& value) override {
    const std::string text = print_path(path);
    if (const WholeMember* member = whole_member(text)) {
      whole_[member->path] = std::move(value);
      return {};
    }
    const JsonCursor cursor(value, place_, text);
    if (path.size() == 3) return take_graph_member(path[2].key, cursor);
    if (path.size() != 4) return bad_input("expected an object, found an array").at(place_);
    return take_graph_element(path[2].key, path[3], cursor);
  }

  Result<void> finish(Program& program) {
    for (const char* part : {"inputs", "outputs", "nodes", "tensor_values"}) {
      if (!seen_.contains(part)) {
        return bad_input("has no graph_module.graph." + std::string(part)).at(place_);
      }
    }
    GRAPHGATE_TRY(program.graph, graph_.finish(place_ + ": graph_module.graph"));
    const auto signature = whole_.find("graph_module.signature");
    if (signature == whole_.end()) {
      return bad_input("has no graph_module.signature").at(place_);
    }
    const JsonCursor cursor(signature->second, place_, "graph_module.signature");
    GRAPHGATE_TRY_VOID(read_signature(cursor, graph_.slots(), graph_.token_outputs(), program));
    GRAPHGATE_TRY_VOID(read_ranges(program));
    return keep_annotations(program);
  }

  [[nodiscard]] const Json* find_whole(std::string_view path) const {
    const auto found = whole_.find(path);
    return found == whole_.end() ? nullptr : &found->second;
  }

  Result<void> skip_scalar(const JsonPath& path, const Json& value) override {
    const std::string text = print_path(path);
    if (!is_walked(text)) return {};
    return bad_input("expected an object or an array, found " + std::string(describe_kind(value)))
        .at(text.empty() ? place_ : place_ + ": " + text);
  }

  void enter(const JsonPath& path) override {
    if (path.size() == 3 && is_in_graph(path)) seen_.insert(path[2].key);
  }

 private:
  static bool is_in_graph(const JsonPath& path) {
    return path[0].key == "graph_module" && path[1].key == "graph";
  }

  static const WholeMember* whole_member(std::string_view path) {
    for (const WholeMember& member : kWholeMembers) {
      if (member.path == path) return &member;
    }
    return nullptr;
  }

  Result<void> take_graph_member(const std::string& key, const JsonCursor& cursor) {
    seen_.insert(key);
    if (key == "inputs") return graph_.add_inputs(cursor);
    if (key == "outputs") return graph_.add_outputs(cursor);
    if (key == "is_single_tensor_return") return graph_.set_single_return(cursor);
    return {};  // a member of a later minor version
  }

  Result<void> take_graph_element(const std::string& key, const JsonStep& step,
                                  const JsonCursor& cursor) {
    const bool is_nodes = key == "nodes";
    if (is_nodes != step.is_element) {
      return bad_input(is_nodes ? "expected an array, found an object"
                                : "expected an object, found an array")
          .at(place_ + ": graph_module.graph." + key);
    }
    if (is_nodes) return graph_.add_node(cursor);
    if (key == "tensor_values") return graph_.add_tensor_value(step.key, cursor);
    if (key == "custom_obj_values") return cursor.unsupported_here("a custom object");
    const ValueKind kind = key == "sym_int_values"    ? ValueKind::kSymInt
                           : key == "sym_bool_values" ? ValueKind::kSymBool
                                                      : ValueKind::kSymFloat;
    return graph_.add_symbolic_value(step.key, kind, cursor);
  }

  Result<void> read_ranges(Program& program);
  Result<void> keep_annotations(Program& program);

  std::string place_;
  ReadContext context_;
  GraphReader graph_;
  std::map<std::string_view, Json> whole_;
  std::set<std::string, std::less<>> seen_;  // members of the graph
};

bool is_symbol_name(std::string_view name) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), is_word);
}

// Symbols that no range mentions may be any integer.
Result<void> ProgramVisitor::read_ranges(Program& program) {
  for (auto& [name, info] : context_.symbols) {
    info.min = std::numeric_limits<std::int64_t>::min();
  }
  Json others = Json::object();
  const auto ranges = whole_.find("range_constraints");
  if (ranges != whole_.end()) {
    const JsonCursor root(ranges->second, place_, "range_constraints");
    GRAPHGATE_TRY(const auto entries, root.members());
    for (const auto& [name, range] : entries) {
      if (!is_symbol_name(name)) {
        others[std::string(name)] = range.json();
        continue;
      }
      spec::SymbolInfo& info = context_.symbols[std::string(name)];
      info.min = std::numeric_limits<std::int64_t>::min();
      GRAPHGATE_TRY_VOID(read_optional(range, "min_val", info.min));
      GRAPHGATE_TRY_VOID(read_optional(range, "max_val", info.max, &JsonCursor::as_int));
      if (info.max && *info.max < info.min) return range.error("the range is empty");
    }
  }
  if (!others.empty()) program.annotations[kOtherRangesKey] = others.dump();
  program.symbols = std::move(context_.symbols);
  return {};
}

Result<void> ProgramVisitor::keep_annotations(Program& program) {
  OwnMetadata own;
  if (auto metadata = whole_.find("graph_module.metadata"); metadata != whole_.end()) {
    const JsonCursor cursor(metadata->second, place_, "graph_module.metadata");
    GRAPHGATE_TRY(own, read_own_metadata(cursor, program));
    metadata->second.erase(kOwnMetadataKey);
  }
  for (const WholeMember& member : kWholeMembers) {
    const Json* value = find_whole(member.path);
    if (member.annotation == nullptr || value == nullptr) continue;
    if (!own.made_up.contains(member.annotation)) {
      program.annotations[member.annotation] = value->dump();
    }
  }
  const auto keep = [&](const char* key, const Json& facts) {
    if (!facts.empty()) program.annotations[key] = facts.dump();
  };
  keep(kOpaqueValuesKey, context_.opaque_values);
  keep(kBareNodesKey, context_.bare_nodes);
  keep(kSingleReturnsKey, context_.single_returns);
  return {};
}

// Looks at the schema's version alone.
class VersionVisitor : public JsonVisitor {
 public:
  bool wants(const JsonPath& path) override {
    return path.size() == 1 && path[0].key == "schema_version";
  }
  Result<void> take(const JsonPath&, Json&& value) override {
    version = std::move(value);
    return {};
  }
  Json version;
};

Result<void> check_version(const Json* version, const std::string& place) {
  if (version == nullptr) return bad_input("has no schema_version").at(place);
  const JsonCursor cursor(*version, place, "schema_version");
  GRAPHGATE_TRY(const JsonCursor major_cursor, cursor.member("major"));
  GRAPHGATE_TRY(const std::int64_t major, major_cursor.as_int());
  if (major == kSchemaMajor) return {};
  return major_cursor.error("the export schema's major version is " + std::to_string(major) +
                            ", this reads " + std::to_string(kSchemaMajor));
}

// Where things are in one archive.
struct Layout {
  std::string root;        // "cond_nonzero/"
  std::string model_name;  // "model"
};

Result<Layout> find_layout(const ZipReader& archive) {
  std::vector<Layout> layouts;
  for (const std::string& entry : archive.entries()) {
    const auto models = entry.find("/models/");
    if (models == std::string::npos || !entry.ends_with(".json")) continue;
    const auto name_at = models + std::string_view("/models/").size();
    layouts.push_back(
        Layout{entry.substr(0, models + 1), entry.substr(name_at, entry.size() - name_at - 5)});
  }
  if (layouts.empty()) {
    return bad_input("has no entry */models/*.json, so it is no torch.export archive")
        .at(archive.name());
  }
  if (layouts.size() > 1) {
    return unsupported("holds " + std::to_string(layouts.size()) + " programs, expected one")
        .at(archive.name());
  }
  const std::string order_entry = layouts[0].root + "byteorder";
  if (archive.contains(order_entry)) {
    GRAPHGATE_TRY(const std::string order, archive.read_text(order_entry));
    if (order != "little") return unsupported("its bytes are not little-endian").at(archive.name());
  }
  return layouts[0];
}

Result<void> read_model(const ZipReader& archive, const Layout& layout, const std::string& place,
                        Program& program) {
  const std::string entry = layout.root + "models/" + layout.model_name + ".json";
  ProgramVisitor visitor(place);
  GRAPHGATE_TRY(const auto buffer, archive.stream(entry));
  std::istream input(buffer.get());
  Result<void> parsed = parse_json_stream(input, place, visitor);
  if (buffer->failed()) return buffer->failure().at(place);
  if (!parsed.ok()) {
    // Another major version explains any error; it may stand after the place of the error.
    VersionVisitor version;
    GRAPHGATE_TRY(const auto again, archive.stream(entry));
    std::istream second(again.get());
    const bool has_version = parse_json_stream(second, place, version).ok();
    if (has_version && !version.version.is_null()) {
      GRAPHGATE_TRY_VOID(check_version(&version.version, place));
    }
    return parsed;
  }
  GRAPHGATE_TRY_VOID(check_version(visitor.find_whole("schema_version"), place));
  return visitor.finish(program);
}

Result<Program> read_archive(const ZipReader& archive, const Pt2Options& options) {
  GRAPHGATE_TRY(const Layout layout, find_layout(archive));
  const std::string place = archive.name() + ": " + layout.model_name + ".json";
  Program program;
  program.name = layout.root.substr(0, layout.root.size() - 1);
  GRAPHGATE_TRY_VOID(read_model(archive, layout, place, program));
  Payloads payloads;
  const std::string data = layout.root + "data/";
  for (const std::string folder : {"weights", "constants"}) {
    std::string path = data;
    path.append(folder).append("/");
    std::string config = path;
    config.append(layout.model_name).append("_").append(folder).append("_config.json");
    GRAPHGATE_TRY_VOID(read_payloads(archive, config, path, payloads));
  }
  GRAPHGATE_TRY_VOID(attach_payloads(payloads, place, program));
  if (options.ops != nullptr) {
    auto checked = spec::check_program(program, *options.ops);
    if (!checked.ok()) return checked.error().at(archive.name());
  }
  return program;
}

}  // namespace

Result<Program> read_pt2(const std::string& path, const Pt2Options& options) {
  GRAPHGATE_TRY(const ZipReader archive, ZipReader::open(path));
  return read_archive(archive, options);
}

Result<Program> read_pt2_bytes(std::span<const std::byte> bytes, std::string name,
                               const Pt2Options& options) {
  GRAPHGATE_TRY(const ZipReader archive, ZipReader::from_bytes(bytes, std::move(name)));
  return read_archive(archive, options);
}

}  // namespace graphgate::interop
