#include "tools/store/stored_bytes.h"

#include <cmath>
#include <cstring>
#include <string_view>

#include "spec/type_text.h"
#include "tools/report/json.h"

namespace graphgate::tools {

using spec::HostTensor;

namespace {

Json json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

struct ValueWriter {
  StoredBytes& bytes;
  Json operator()(const spec::None&) const { return nullptr; }
  Json operator()(const HostTensor& tensor) const { return {{"tensor", bytes.tensor(tensor)}}; }
  Json operator()(std::int64_t i) const { return {{"int", i}}; }
  Json operator()(double x) const { return {{"float", json_number(x)}}; }
  Json operator()(bool b) const { return {{"bool", b}}; }
};

}  // namespace

Json StoredBytes::value(const spec::OutputValue& value) {
  return std::visit(ValueWriter{*this}, value);
}

Json StoredBytes::value(const spec::InputValue& value) {
  return std::visit(ValueWriter{*this}, value);
}

Json StoredBytes::tensor(const HostTensor& tensor) {
  Json json;
  json["storage"] = storage_of(tensor);
  json["dtype"] = spec::torch_name(tensor.dtype);
  json["sizes"] = tensor.sizes;
  json["strides"] = tensor.strides;
  if (tensor.storage_offset != 0) json["storage_offset"] = tensor.storage_offset;
  json["device"] = spec::print_device(tensor.device);
  return json;
}

Json StoredBytes::words(const spec::ProvenanceWords& words) {
  auto storage = std::make_shared<spec::HostStorage>();
  storage->bytes.resize(words.size() * sizeof(words[0]));
  std::memcpy(storage->bytes.data(), words.data(), storage->bytes.size());
  return content_of(storage, spec::DType::kInt64);
}

std::size_t StoredBytes::storage_of(const HostTensor& tensor) {
  const auto known = numbers_.find(tensor.storage.get());
  if (known != numbers_.end()) return known->second;
  kept_.push_back(tensor.storage);
  storages_.push_back(content_of(tensor.storage, tensor.dtype));
  return numbers_.emplace(tensor.storage.get(), numbers_.size()).first->second;
}

// Elements of `dtype` where the bytes are whole ones, so that a person can look at them.
std::string StoredBytes::content_of(const std::shared_ptr<spec::HostStorage>& storage,
                                    spec::DType dtype) {
  const std::string_view bytes(reinterpret_cast<const char*>(storage->bytes.data()),
                               storage->bytes.size());
  const std::size_t hash = std::hash<std::string_view>{}(bytes);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (contents_.at(at->second).storage->bytes == storage->bytes) return at->second;
  }
  std::string name = "content" + std::to_string(contents_.size());
  const auto count = static_cast<std::int64_t>(bytes.size());
  const std::int64_t item = spec::item_size_bytes(dtype);
  const bool is_whole = count % item == 0;
  HostTensor content;
  content.dtype = is_whole ? dtype : spec::DType::kUInt8;
  content.sizes = {is_whole ? count / item : count};
  content.strides = {1};
  content.storage = storage;
  contents_.emplace(name, std::move(content));
  by_hash_.emplace(hash, name);
  return name;
}

Json ops_json(const spec::OpTable& ops) {
  Json rows = Json::array();
  for (const auto& [name, row] : ops.rows()) {
    // A row that replaces a built-in one is the user's, too.
    if (spec::builtin_op_table().find(name) != row.get()) rows.push_back(spec::print_row(*row));
  }
  return rows;
}

}  // namespace graphgate::tools
