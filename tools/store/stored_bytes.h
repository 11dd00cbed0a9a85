// The bytes of a stored run as it is written (trace_store.h): each content once, by name, and
// storages by number. Two storages of the same content are still two storages. StoredTensors
// (stored_tensors.h) reads them.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "interop/safetensors.h"
#include "spec/executor.h"
#include "spec/op_table.h"

namespace graphgate::tools {

class StoredBytes {
 public:
  // The tensor's geometry, and the number of its storage.
  nlohmann::ordered_json tensor(const spec::HostTensor& tensor);
  // A tensor, a number, or null: what StoredTensors::read_value reads.
  nlohmann::ordered_json value(const spec::OutputValue& value);
  nlohmann::ordered_json value(const spec::InputValue& value);
  template <class Value>
  nlohmann::ordered_json values(const std::vector<Value>& values) {
    auto json = nlohmann::ordered_json::array();
    for (const Value& each : values) json.push_back(value(each));
    return json;
  }
  // What StoredTensors::read_tensors reads; `tensors` are pairs of a name and a tensor.
  template <class Tensors>
  nlohmann::ordered_json named(const Tensors& tensors) {
    auto json = nlohmann::ordered_json::array();
    for (const auto& [name, each] : tensors) {
      json.push_back({{"name", name}, {"tensor", tensor(each)}});
    }
    return json;
  }
  // The name of the content.
  nlohmann::ordered_json words(const spec::ProvenanceWords& words);

  // By number: the name of each storage's content.
  [[nodiscard]] const nlohmann::ordered_json& storages() const { return storages_; }
  [[nodiscard]] const interop::NamedTensors& contents() const { return contents_; }

 private:
  std::size_t storage_of(const spec::HostTensor& tensor);
  std::string content_of(const std::shared_ptr<spec::HostStorage>& storage, spec::DType dtype);

  std::vector<std::shared_ptr<spec::HostStorage>> kept_;
  std::unordered_map<const spec::HostStorage*, std::size_t> numbers_;
  std::unordered_multimap<std::size_t, std::string> by_hash_;
  interop::NamedTensors contents_;
  nlohmann::ordered_json storages_ = nlohmann::ordered_json::array();
};

// The rows that are not builtin, as texts; StoredTensors' read_ops (stored_tensors.h) reads them.
[[nodiscard]] nlohmann::ordered_json ops_json(const spec::OpTable& ops);

}  // namespace graphgate::tools
