// Parameters, buffers and constants of a .pt2: raw bytes with a geometry each.
#include <unordered_map>

#include "base/file_io.h"
#include "interop/json_fields.h"
#include "interop/json_stream.h"
#include "interop/pt2_reader.h"
#include "interop/pt2_signature_reader.h"
#include "interop/pt2_types.h"

namespace graphgate::interop {

using spec::HostStorage;
using spec::HostTensor;
using spec::InputKind;

namespace {

// The storages read so far, by path in the archive.
using Storages = std::unordered_map<std::string, std::shared_ptr<HostStorage>>;

Result<std::vector<std::int64_t>> constants_of(const std::vector<spec::SymExpr>& extents,
                                               const JsonCursor& place) {
  std::vector<std::int64_t> constants;
  for (const spec::SymExpr& extent : extents) {
    if (!extent.is_constant()) return place.error("the geometry of a weight must be constant");
    constants.push_back(extent.constant());
  }
  return constants;
}

Result<std::shared_ptr<HostStorage>> read_storage(const ZipReader& archive,
                                                  const std::string& entry, const JsonCursor& place,
                                                  Storages& storages) {
  auto& storage = storages[entry];
  if (storage) return storage;
  if (!archive.contains(entry)) return place.error("the archive has no entry '" + entry + "'");
  auto bytes = archive.read(entry);
  if (!bytes.ok()) {
    Error error = bytes.error();  // both it and the place begin with the archive's name
    const std::string prefix = archive.name() + ": ";
    if (error.message.starts_with(prefix)) error.message.erase(0, prefix.size());
    return error.at(place.place());
  }
  storage = std::make_shared<HostStorage>(HostStorage{std::move(bytes).value()});
  return storage;
}

Result<HostTensor> read_tensor(const ZipReader& archive, const std::string& folder,
                               const JsonCursor& payload, const JsonCursor& meta,
                               Storages& storages) {
  ReadContext context;
  GRAPHGATE_TRY(const spec::TensorType type, read_tensor_type(meta, context));
  HostTensor tensor;
  tensor.dtype = type.dtype;
  tensor.device = type.device;
  GRAPHGATE_TRY(tensor.sizes, constants_of(type.sizes, meta));
  GRAPHGATE_TRY(tensor.strides, constants_of(type.strides, meta));
  GRAPHGATE_TRY(const auto offset, constants_of({type.storage_offset}, meta));
  tensor.storage_offset = offset[0];
  GRAPHGATE_TRY(const JsonCursor file, payload.member("path_name"));
  GRAPHGATE_TRY(const std::string file_name, file.as_string());
  GRAPHGATE_TRY(tensor.storage, read_storage(archive, folder + file_name, file, storages));
  const auto bytes = static_cast<std::int64_t>(tensor.storage->bytes.size());
  if (!spec::geometry_fits(tensor, bytes)) {
    return meta.error("the geometry does not fit the " + std::to_string(bytes) + " bytes of '" +
                      file_name + "'");
  }
  return tensor;
}

Result<Payload> read_payload(const ZipReader& archive, const std::string& folder,
                             const JsonCursor& cursor, Storages& storages) {
  Payload payload;
  GRAPHGATE_TRY(const JsonCursor pickled, cursor.member("use_pickle"));
  GRAPHGATE_TRY(const bool is_pickled, pickled.as_bool());
  if (is_pickled) return pickled.unsupported_here("a pickled payload");
  GRAPHGATE_TRY(payload.is_param, read_bool(cursor, "is_param"));
  GRAPHGATE_TRY(const JsonCursor meta, cursor.member("tensor_meta"));
  GRAPHGATE_TRY(payload.tensor, read_tensor(archive, folder, cursor, meta, storages));
  GRAPHGATE_TRY_VOID(read_optional(meta, "requires_grad", payload.requires_grad));
  return payload;
}

bool matches(const HostTensor& tensor, const spec::TensorType& type) {
  if (tensor.dtype != type.dtype || tensor.sizes.size() != type.sizes.size()) return false;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (type.sizes[i].is_constant() && type.sizes[i].constant() != tensor.sizes[i]) return false;
  }
  return true;
}

}  // namespace

Result<void> read_payloads(const ZipReader& archive, const std::string& config_entry,
                           const std::string& folder, Payloads& payloads) {
  GRAPHGATE_TRY(const std::string text, archive.read_text(config_entry));
  const std::string place = archive.name() + ": " + base_name(config_entry);
  GRAPHGATE_TRY(const Json parsed, parse_json(text, place));
  const JsonCursor root(parsed, place);
  GRAPHGATE_TRY(const JsonCursor config, root.member("config"));
  GRAPHGATE_TRY(const auto entries, config.members());
  Storages storages;
  for (const auto& [name, cursor] : entries) {
    GRAPHGATE_TRY(Payload payload, read_payload(archive, folder, cursor, storages));
    if (!payloads.emplace(name, std::move(payload)).second) {
      return cursor.error("is also among the weights");
    }
  }
  return {};
}

Result<void> attach_payloads(const Payloads& payloads, const std::string& place,
                             spec::Program& program) {
  Json frozen = Json::array();
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const spec::ProgramInput& input = program.inputs[i];
    if (input.kind == InputKind::kUserInput) continue;
    const std::string where =
        place + ": graph_module.signature.input_specs[" + std::to_string(i) + "]";
    const auto found = payloads.find(input.target);
    if (found == payloads.end()) {
      return bad_input("'" + input.target + "' has no bytes in the archive").at(where);
    }
    const Payload& payload = found->second;
    const auto& type = program.graph.value(input.value).type;
    if (!type || !matches(payload.tensor, *type)) {
      return bad_input("the dtype or sizes of '" + input.target +
                       "' in the archive are not those in the graph")
          .at(where);
    }
    if (input.kind == InputKind::kParameter && !payload.requires_grad &&
        spec::is_floating_point(spec::component_dtype(payload.tensor.dtype))) {
      frozen.push_back(input.target);
    }
    program.tensors.emplace(input.target, payload.tensor);
  }
  if (!frozen.empty()) program.annotations[kFrozenParametersKey] = frozen.dump();
  return {};
}

}  // namespace graphgate::interop
