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
#include "spec/provenance.h"

namespace graphgate::tools {

class StoredBytes {
 public:
  // The tensor's geometry, and the number of its storage.
  nlohmann::ordered_json tensor(const spec::HostTensor& tensor);
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

}  // namespace graphgate::tools
