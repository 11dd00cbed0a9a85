#include "interop/recording.h"

#include <charconv>

#include "interop/json_fields.h"
#include "interop/json_stream.h"
#include "interop/safetensors.h"

namespace graphgate::interop {

using spec::HostTensor;

namespace {

// "call3.output1.float32" taken apart.
struct RecordedName {
  std::size_t call = 0;
  std::string role;       // "input", "output", "final_input" or "buffer"
  std::size_t index = 0;  // of an input or output
  std::string buffer;
  std::string kind;  // empty for inputs and storages
};

constexpr std::size_t kMaxIndex = 100'000;

// Reads a prefix and a number from the front of `text`.
bool take_numbered(std::string_view& text, std::string_view prefix, std::size_t& number) {
  if (!text.starts_with(prefix)) return false;
  const char* first = text.data() + prefix.size();
  const auto [end, status] = std::from_chars(first, text.data() + text.size(), number);
  if (status != std::errc() || number > kMaxIndex) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::optional<RecordedName> parse_name(std::string_view text) {
  RecordedName name;
  if (!take_numbered(text, "call", name.call) || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  for (const std::string_view role : {"input", "storage"}) {
    if (!take_numbered(text, role, name.index)) continue;
    name.role = role;
    return text.empty() ? std::optional(name) : std::nullopt;
  }
  const auto dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  name.kind = text.substr(dot + 1);
  text = text.substr(0, dot);
  if (take_numbered(text, "output", name.index)) {
    name.role = "output";
    return text.empty() ? std::optional(name) : std::nullopt;
  }
  if (take_numbered(text, "final_input", name.index)) {
    name.role = "final_input";
    return text.empty() ? std::optional(name) : std::nullopt;
  }
  if (!text.starts_with("buffer.")) return std::nullopt;
  name.role = "buffer";
  name.buffer = text.substr(std::string_view("buffer.").size());
  return name;
}

// What was recorded under one name, before it is known whether both kinds are there.
struct Pair {
  std::optional<HostTensor> own;
  std::optional<HostTensor> float64;
};
struct PartialCall {
  std::map<std::size_t, HostTensor> inputs;
  std::map<std::size_t, HostTensor> storages;
  std::map<std::size_t, Pair> outputs;
  std::map<std::size_t, Pair> final_inputs;
  std::map<std::string, Pair> buffers;
};

Result<void> place_tensor(const RecordedName& name, const std::string& own_kind, HostTensor tensor,
                          PartialCall& call) {
  if (name.role == "input") {
    call.inputs.emplace(name.index, std::move(tensor));
    return {};
  }
  if (name.role == "storage") {
    call.storages.emplace(name.index, std::move(tensor));
    return {};
  }
  Pair& pair = name.role == "output"        ? call.outputs[name.index]
               : name.role == "final_input" ? call.final_inputs[name.index]
                                            : call.buffers[name.buffer];
  if (name.kind == own_kind) {
    pair.own = std::move(tensor);
  } else if (name.kind == "float64") {
    pair.float64 = std::move(tensor);
  } else {
    return bad_input("unknown kind '" + name.kind + "'");
  }
  return {};
}

Result<RecordedGeometry> read_geometry(const JsonCursor& cursor) {
  RecordedGeometry geometry;
  GRAPHGATE_TRY(const JsonCursor dtype_cursor, cursor.member("dtype"));
  GRAPHGATE_TRY(const std::string dtype_name, dtype_cursor.as_string());
  const auto dtype = spec::parse_dtype(dtype_name);
  if (!dtype) return dtype_cursor.error("unknown dtype '" + dtype_name + "'");
  geometry.dtype = *dtype;
  GRAPHGATE_TRY(geometry.sizes, read_ints(cursor, "sizes"));
  GRAPHGATE_TRY(const JsonCursor strides, cursor.member("strides"));
  GRAPHGATE_TRY(geometry.strides, strides.as_ints());
  GRAPHGATE_TRY(geometry.storage_offset, read_int(cursor, "storage_offset"));
  GRAPHGATE_TRY(const JsonCursor device_cursor, cursor.member("device"));
  GRAPHGATE_TRY(const std::string device_name, device_cursor.as_string());
  const auto device = spec::parse_device(device_name);
  if (!device) return device_cursor.error("unknown device '" + device_name + "'");
  geometry.device = *device;
  GRAPHGATE_TRY_VOID(read_optional(cursor, "shares_storage_with", geometry.shares_storage_with));
  if (geometry.strides.size() != geometry.sizes.size()) {
    return strides.error("expected a stride for each size");
  }
  return geometry;
}

// A number or truth value as `Value` holds it ("Infinity", "-Infinity" and "NaN" are numbers);
// nullopt for null and what has members.
template <class Value>
Result<std::optional<Value>> read_number(const JsonCursor& cursor) {
  if (cursor.json().is_boolean()) {
    GRAPHGATE_TRY(const bool truth, cursor.as_bool());
    return std::optional<Value>(truth);
  }
  if (cursor.json().is_number_integer()) {
    GRAPHGATE_TRY(const std::int64_t number, cursor.as_int());
    return std::optional<Value>(number);
  }
  if (!cursor.json().is_number() && !cursor.json().is_string()) return std::optional<Value>();
  GRAPHGATE_TRY(const double number, cursor.as_double());
  return std::optional<Value>(number);
}

// The outputs of one call, in the order of the geometry file.
Result<void> add_outputs(const JsonCursor& list, PartialCall& partial, RecordedCall& call) {
  GRAPHGATE_TRY(const auto cursors, list.elements());
  for (std::size_t i = 0; i < cursors.size(); ++i) {
    const auto found = partial.outputs.find(i);
    call.outputs.emplace_back();
    if (found == partial.outputs.end()) {
      GRAPHGATE_TRY(auto number, read_number<spec::OutputValue>(cursors[i]));
      if (number) call.numbers.emplace(i, std::move(*number));
      continue;
    }
    if (!found->second.own) return cursors[i].error("has no tensor in the program's own dtype");
    RecordedOutput output{std::move(*found->second.own), std::nullopt,
                          std::move(found->second.float64)};
    if (cursors[i].json().is_object()) {
      GRAPHGATE_TRY(output.geometry, read_geometry(cursors[i]));
      const bool fits = output.geometry->dtype == output.tensor.dtype &&
                        output.geometry->sizes == output.tensor.sizes;
      if (!fits) return cursors[i].error("is not the dtype and sizes of the tensor");
    }
    call.outputs.back() = std::move(output);
  }
  if (!partial.outputs.empty() && partial.outputs.rbegin()->first >= cursors.size()) {
    return list.error("output " + std::to_string(partial.outputs.rbegin()->first) +
                      " has no geometry");
  }
  return {};
}

Result<RecordedState> finish_state(Pair& pair, const std::string& what) {
  if (!pair.own) return bad_input(what + " has no tensor in the program's own dtype");
  return RecordedState{std::move(*pair.own), std::move(pair.float64)};
}

// The inputs of one call: numbers stand in `list`, which is empty where there is none and no input
// was a part of a storage.
Result<void> add_inputs(const std::vector<JsonCursor>& list, const JsonCursor& geometries,
                        PartialCall& partial, RecordedCall& call) {
  const auto add_numbers = [&]() -> Result<void> {
    for (std::size_t i = call.inputs.size(); i < list.size(); ++i) {
      if (partial.inputs.contains(i)) break;
      GRAPHGATE_TRY(auto number, read_number<spec::InputValue>(list[i]));
      if (!number) break;
      call.inputs.push_back(std::move(*number));
    }
    return {};
  };
  for (auto& [index, tensor] : partial.inputs) {
    GRAPHGATE_TRY_VOID(add_numbers());
    if (index != call.inputs.size()) {
      return geometries.error("input " + std::to_string(call.inputs.size()) + " is missing");
    }
    call.inputs.emplace_back(std::move(tensor));
  }
  return add_numbers();
}

// Puts inputs that were parts of storages back into them.
Result<void> place_inputs(const std::vector<JsonCursor>& cursors, const PartialCall& partial,
                          RecordedCall& call) {
  for (std::size_t i = 0; i < cursors.size(); ++i) {
    if (cursors[i].json().is_null()) continue;
    if (i >= call.inputs.size()) return cursors[i].error("is no input of the call");
    if (!std::holds_alternative<HostTensor>(call.inputs[i])) continue;
    const HostTensor& packed = std::get<HostTensor>(call.inputs[i]);
    GRAPHGATE_TRY(const std::int64_t storage, read_int(cursors[i], "storage"));
    const auto found = partial.storages.find(static_cast<std::size_t>(storage));
    if (found == partial.storages.end()) {
      return cursors[i].error("has no tensor 'storage" + std::to_string(storage) + "'");
    }
    HostTensor placed = packed;
    GRAPHGATE_TRY(placed.strides, read_ints(cursors[i], "strides"));
    GRAPHGATE_TRY(placed.storage_offset, read_int(cursors[i], "storage_offset"));
    placed.storage = found->second.storage;
    const auto bytes = static_cast<std::int64_t>(placed.storage->bytes.size());
    if (placed.strides.size() != placed.sizes.size() || !spec::geometry_fits(placed, bytes)) {
      return cursors[i].error("does not fit the " + std::to_string(bytes) +
                              " bytes of its storage");
    }
    if (spec::packed_bytes(placed) != spec::packed_bytes(packed)) {
      return cursors[i].error("has other elements than the tensor of the input");
    }
    call.inputs[i] = std::move(placed);
  }
  return {};
}

// `inputs` is null where no input is a number or was a part of a storage.
Result<RecordedCall> finish_call(PartialCall& partial, const JsonCursor& geometries,
                                 const std::optional<JsonCursor>& inputs) {
  RecordedCall call;
  std::vector<JsonCursor> list;
  if (inputs) {
    GRAPHGATE_TRY(list, inputs->elements());
  }
  GRAPHGATE_TRY_VOID(add_inputs(list, geometries, partial, call));
  GRAPHGATE_TRY_VOID(place_inputs(list, partial, call));
  GRAPHGATE_TRY_VOID(add_outputs(geometries, partial, call));
  for (auto& [index, pair] : partial.final_inputs) {
    if (index >= call.inputs.size()) {
      return geometries.error("final input " + std::to_string(index) + " is no input");
    }
    GRAPHGATE_TRY(RecordedState state, finish_state(pair, "final input " + std::to_string(index)));
    call.final_inputs.emplace(index, std::move(state));
  }
  for (auto& [name, pair] : partial.buffers) {
    GRAPHGATE_TRY(RecordedState state, finish_state(pair, "buffer '" + name + "'"));
    call.buffers.emplace(name, std::move(state));
  }
  return call;
}

Result<std::map<std::size_t, PartialCall>> collect(const SafetensorsFile& file,
                                                   const std::string& own_kind) {
  std::map<std::size_t, PartialCall> calls;
  for (const auto& [text, entry] : file.entries()) {
    const std::string place = file.name() + ": " + text;
    const auto name = parse_name(text);
    if (!name) return bad_input("the name means nothing in a recording").at(place);
    GRAPHGATE_TRY(HostTensor tensor, file.read(text));
    auto placed = place_tensor(*name, own_kind, std::move(tensor), calls[name->call]);
    if (!placed.ok()) return placed.error().at(place);
  }
  return calls;
}

}  // namespace

Result<std::vector<RecordedCall>> read_recording(const std::string& safetensors_path,
                                                 const std::string& geometry_path) {
  GRAPHGATE_TRY(const SafetensorsFile file, SafetensorsFile::open(safetensors_path));
  GRAPHGATE_TRY(const std::string text, read_whole(geometry_path));
  GRAPHGATE_TRY(const Json json, parse_json(text, base_name(geometry_path)));
  const JsonCursor root(json, base_name(geometry_path));
  GRAPHGATE_TRY(const JsonCursor kind_cursor, root.member("recorded"));
  GRAPHGATE_TRY(const std::string own_kind, kind_cursor.as_string());
  if (own_kind != "float32" && own_kind != "recorded") {
    return kind_cursor.error("expected \"float32\" or \"recorded\"");
  }
  GRAPHGATE_TRY(auto partial_calls, collect(file, own_kind));
  GRAPHGATE_TRY(const JsonCursor geometries, root.member("calls"));
  GRAPHGATE_TRY(const auto inputs, root.find_member("inputs"));
  GRAPHGATE_TRY(const auto named_calls, geometries.members());
  for (const auto& [key, cursor] : named_calls) {
    const auto name = parse_name(std::string(key) + ".input0");
    if (!name || !partial_calls.contains(name->call)) {
      return cursor.error("has no tensor in " + file.name());
    }
  }
  if (partial_calls.empty()) return bad_input("holds no recorded call").at(file.name());
  std::vector<RecordedCall> calls;
  for (auto& [index, partial] : partial_calls) {
    if (index != calls.size()) {
      return bad_input("call " + std::to_string(calls.size()) + " is missing").at(file.name());
    }
    const std::string key = "call" + std::to_string(index);
    GRAPHGATE_TRY(const JsonCursor call_geometries, geometries.member(key));
    std::optional<JsonCursor> placed;
    if (inputs) {
      GRAPHGATE_TRY(placed, inputs->find_member(key));
    }
    GRAPHGATE_TRY(calls.emplace_back(), finish_call(partial, call_geometries, placed));
  }
  return calls;
}

}  // namespace graphgate::interop
