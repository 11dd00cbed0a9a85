#include "interop/op_calls.h"

#include <fstream>

#include "interop/json_fields.h"
#include "interop/json_stream.h"
#include "interop/safetensors.h"

namespace graphgate::interop {

using spec::HostStorage;
using spec::HostTensor;

namespace {

// Reads the tensors of one case; storages of one prefix ("7.in") that have a name are shared.
class CaseReader {
 public:
  CaseReader(const SafetensorsFile& file, std::string case_prefix)
      : file_(file), case_prefix_(std::move(case_prefix)) {}

  Result<HostTensor> tensor(const JsonCursor& cursor, const std::string& prefix) {
    HostTensor out;
    GRAPHGATE_TRY(const JsonCursor dtype_cursor, cursor.member("dtype"));
    GRAPHGATE_TRY(const std::string dtype_name, dtype_cursor.as_string());
    const auto dtype = spec::parse_dtype(dtype_name);
    if (!dtype) return dtype_cursor.error("unknown dtype '" + dtype_name + "'");
    out.dtype = *dtype;
    GRAPHGATE_TRY(out.sizes, read_ints(cursor, "sizes"));
    GRAPHGATE_TRY(out.strides, read_ints(cursor, "strides"));
    GRAPHGATE_TRY(out.storage_offset, read_int(cursor, "storage_offset"));
    GRAPHGATE_TRY(const JsonCursor storage, cursor.member("storage"));
    std::string name;
    if (storage.json().is_string()) {
      GRAPHGATE_TRY(name, storage.as_string());
    } else {
      GRAPHGATE_TRY(const std::int64_t number, storage.as_int());
      name = std::to_string(number);
    }
    GRAPHGATE_TRY(out.storage, read_storage(prefix + name, storage));
    const auto bytes = static_cast<std::int64_t>(out.storage->bytes.size());
    if (!spec::geometry_fits(out, bytes)) {
      return cursor.error("the geometry does not fit the " + std::to_string(bytes) +
                          " bytes of its storage");
    }
    return out;
  }

  // argument() as a function.
  auto arguments(const std::string& prefix) {
    return [this, prefix](const JsonCursor& cursor) { return argument(cursor, prefix); };
  }

  Result<OpArgument> argument(const JsonCursor& cursor, const std::string& prefix) {
    const Json& json = cursor.json();
    if (json.is_null()) return OpArgument{spec::None{}};
    if (json.is_boolean()) return OpArgument{json.get<bool>()};
    if (json.is_number_float()) return OpArgument{json.get<double>()};
    if (json.is_number()) {
      GRAPHGATE_TRY(const std::int64_t number, cursor.as_int());
      return OpArgument{number};
    }
    if (json.is_string()) return OpArgument{json.get<std::string>()};
    if (json.is_object()) return tagged(cursor, prefix);
    GRAPHGATE_TRY(OpArgument::List list, read_elements(cursor, arguments(prefix)));
    return OpArgument{std::move(list)};
  }

 private:
  Result<std::shared_ptr<HostStorage>> read_storage(const std::string& name,
                                                    const JsonCursor& place) {
    auto& storage = storages_[name];
    if (storage) return storage;
    auto tensor = file_.read(case_prefix_ + name);
    if (!tensor.ok()) return tensor.error().at(place.place());
    storage = tensor.value().storage;
    return storage;
  }

  // An argument of one of the kinds that JSON lacks, such as {"dtype": "int64"}.
  Result<OpArgument> tagged(const JsonCursor& cursor, const std::string& prefix) {
    GRAPHGATE_TRY(const auto only, cursor.only_member());
    const std::string_view tag = only.first;
    const JsonCursor& content = only.second;
    if (tag == "tensor") {
      GRAPHGATE_TRY(HostTensor read, tensor(content, prefix));
      return OpArgument{std::move(read)};
    }
    if (tag == "complex") {
      GRAPHGATE_TRY(const spec::ComplexNumber number, read_complex(content));
      return OpArgument{number};
    }
    if (tag == "float") {
      GRAPHGATE_TRY(const double number, read_float(content));
      return OpArgument{number};
    }
    GRAPHGATE_TRY(const std::string text, content.as_string());
    const auto known = [&](const auto& value) -> Result<OpArgument> {
      if (!value) return content.error("unknown " + std::string(tag) + " '" + text + "'");
      return OpArgument{*value};
    };
    if (tag == "dtype") return known(spec::parse_dtype(text));
    if (tag == "device") return known(spec::parse_device(text));
    if (tag == "layout") return known(spec::parse_layout(text));
    if (tag == "memory_format") return known(spec::parse_memory_format(text));
    return cursor.error("unknown kind of value '" + std::string(tag) + "'");
  }

  const SafetensorsFile& file_;
  std::string case_prefix_;
  std::map<std::string, std::shared_ptr<HostStorage>> storages_;
};

Result<OpCall> read_case(const JsonCursor& root, const SafetensorsFile& file) {
  OpCall out;
  GRAPHGATE_TRY(out.id, read_int(root, "case"));
  GRAPHGATE_TRY(out.op, read_string(root, "op"));
  CaseReader reader(file, std::to_string(out.id) + ".");
  GRAPHGATE_TRY(const JsonCursor args, root.member("args"));
  GRAPHGATE_TRY(out.args, read_elements(args, reader.arguments("in")));
  GRAPHGATE_TRY(const JsonCursor kwargs, root.member("kwargs"));
  GRAPHGATE_TRY_VOID(read_members(kwargs, out.kwargs, reader.arguments("in")));
  GRAPHGATE_TRY(out.result, read_member(root, "result", reader.arguments("out")));
  GRAPHGATE_TRY(const JsonCursor mutated, root.member("mutated"));
  GRAPHGATE_TRY_VOID(read_members(mutated, out.mutated, [&](const JsonCursor& cursor) {
    return read_member(cursor, "tensor",
                       [&](const JsonCursor& content) { return reader.tensor(content, "mut."); });
  }));
  return out;
}

}  // namespace

Result<void> read_op_calls(const std::string& jsonl_path, const std::string& safetensors_path,
                           const std::function<Result<void>(OpCall&&)>& visit) {
  GRAPHGATE_TRY(const auto exists, open_file(jsonl_path));  // for its message
  GRAPHGATE_TRY(const SafetensorsFile file, SafetensorsFile::open(safetensors_path));
  std::ifstream input(jsonl_path);
  std::string text;
  for (int line = 1; std::getline(input, text); ++line) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = base_name(jsonl_path) + ":" + std::to_string(line);
    GRAPHGATE_TRY(const Json json, parse_json(text, place));
    const JsonCursor root(json, place);
    GRAPHGATE_TRY(OpCall op_call, read_case(root, file));
    op_call.line = line;
    GRAPHGATE_TRY_VOID(visit(std::move(op_call)));
  }
  if (input.bad()) return infrastructure("cannot be read").at(jsonl_path);
  return {};
}

}  // namespace graphgate::interop
