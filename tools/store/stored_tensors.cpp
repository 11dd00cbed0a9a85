#include "tools/store/stored_tensors.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

namespace graphgate::tools {

using conformance::Configuration;
using interop::JsonCursor;
using spec::HostTensor;

Result<std::size_t> read_index(const JsonCursor& object, std::string_view key) {
  GRAPHGATE_TRY(const std::uint32_t index, read_member(object, key, interop::as_count));
  return std::size_t{index};
}

Result<std::map<std::string, std::string>> read_texts(const JsonCursor& object,
                                                      std::string_view key) {
  std::map<std::string, std::string> texts;
  GRAPHGATE_TRY(const JsonCursor member, object.member(key));
  GRAPHGATE_TRY_VOID(read_members(member, texts, &JsonCursor::as_string));
  return texts;
}

Result<Configuration> read_configuration(const JsonCursor& object, std::string_view key) {
  GRAPHGATE_TRY(const auto texts, read_texts(object, key));
  return Configuration(texts.begin(), texts.end());
}

Result<std::vector<std::string>> read_strings(const JsonCursor& object, std::string_view key) {
  std::vector<std::string> strings;
  GRAPHGATE_TRY_VOID(read_list(object, key, strings, &JsonCursor::as_string));
  return strings;
}

Result<spec::DType> read_dtype(const JsonCursor& object) {
  return read_word(object, "dtype", "a dtype", spec::parse_dtype);
}

Result<spec::Outcome> read_outcome(const JsonCursor& object) {
  return read_word(object, "outcome", "an outcome", spec::parse_outcome);
}

Result<std::size_t> read_program_index(const JsonCursor& object, std::size_t programs) {
  GRAPHGATE_TRY(const std::size_t index, read_index(object, "program"));
  if (index >= programs) return object.error("there is no such program");
  return index;
}

Result<std::shared_ptr<const spec::OpTable>> read_ops(const JsonCursor& object,
                                                      std::string_view key) {
  spec::OpTable ops = spec::builtin_op_table();
  GRAPHGATE_TRY(const auto rows, read_strings(object, key));
  for (const std::string& row : rows) {
    GRAPHGATE_TRY_VOID(ops.add_text(row, object.place() + "." + std::string(key)));
  }
  return std::make_shared<const spec::OpTable>(std::move(ops));
}

namespace {

Error beyond(const std::string& what, std::int64_t bytes) {
  return bad_input(what + " has more than " + std::to_string(bytes) + " bytes");
}

// Of contents, and of storages, which may be several of one content.
bool add_within(std::int64_t most, std::int64_t bytes, std::int64_t& sum) {
  if (bytes > most - sum) return false;
  sum += bytes;
  return true;
}

Error no_content(const JsonCursor& place, const std::string& name) {
  return place.error("no tensor is called '" + name + "'");
}

// "[2, 3]"; the first few of many.
std::string print_list(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t kShown = 16;
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(numbers.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  }
  return text + (numbers.size() > kShown ? ", ...]" : "]");
}

std::int64_t bytes_of(const interop::SafetensorsEntry& entry) {
  return entry.end_bytes - entry.begin_bytes;
}

}  // namespace

Result<StoredTensors> StoredTensors::open(const std::filesystem::path& folder,
                                          const JsonCursor& root, const TensorLimits& limits) {
  const std::string path = (folder / "tensors.safetensors").string();
  StoredTensors out;
  out.limits_ = limits;
  // Before it is opened: a file that is larger than memory would be told as the machine's fault.
  std::error_code none;
  const std::uintmax_t size_bytes = std::filesystem::file_size(path, none);
  constexpr std::uintmax_t kHeaderBytes = interop::kMaxSafetensorsHeaderBytes;
  if (!none && size_bytes > kHeaderBytes &&
      std::cmp_greater(size_bytes - kHeaderBytes, limits.bytes)) {
    return beyond(path, limits.bytes);
  }
  GRAPHGATE_TRY(const auto file, interop::SafetensorsFile::open(path));
  std::int64_t sum = 0;
  for (const auto& [name, entry] : file.entries()) {
    if (!add_within(limits.bytes, bytes_of(entry), sum)) return beyond(path, limits.bytes);
  }
  sum = 0;
  std::vector<std::string> storages;
  GRAPHGATE_TRY_VOID(read_list(root, "storages", [&](const JsonCursor& each) -> Result<void> {
    GRAPHGATE_TRY(storages.emplace_back(), each.as_string());
    const auto found = file.entries().find(storages.back());
    if (found == file.entries().end()) return no_content(each, storages.back());
    const bool fits = add_within(limits.bytes, bytes_of(found->second), sum);
    return fits ? Result<void>() : beyond(each.place(), limits.bytes);
  }));
  for (const auto& [name, entry] : file.entries()) {
    GRAPHGATE_TRY(HostTensor tensor, file.read(name));
    out.contents_.emplace(name, std::move(tensor));
  }
  out.storages_.reserve(storages.size());
  for (const std::string& name : storages) {
    const HostTensor& content = out.contents_.find(name)->second;
    out.storages_.push_back(std::make_shared<spec::HostStorage>(*content.storage));
  }
  return out;
}

Result<const HostTensor*> StoredTensors::content_at(const JsonCursor& name) const {
  GRAPHGATE_TRY(const std::string text, name.as_string());
  const auto found = contents_.find(text);
  if (found == contents_.end()) return no_content(name, text);
  return &found->second;
}

Result<HostTensor> StoredTensors::read_tensor(const JsonCursor& object) const {
  HostTensor tensor;
  GRAPHGATE_TRY(const std::size_t storage, read_index(object, "storage"));
  if (storage >= storages_.size()) {
    return object.error("there is no such storage: " + std::to_string(storage) +
                        ", and 'storages' names " + std::to_string(storages_.size()));
  }
  tensor.storage = storages_[storage];
  GRAPHGATE_TRY_VOID(read_layout(object, tensor));
  GRAPHGATE_TRY(tensor.device, read_word(object, "device", "a device", spec::parse_device));
  const auto bytes = static_cast<std::int64_t>(tensor.storage->bytes.size());
  if (!spec::geometry_fits(tensor, bytes)) {
    return object.error("does not fit its storage of " + std::to_string(bytes) +
                        " bytes: " + std::string(spec::torch_name(tensor.dtype)) + ", sizes " +
                        print_list(tensor.sizes) + ", strides " + print_list(tensor.strides) +
                        ", offset " + std::to_string(tensor.storage_offset));
  }
  if (tensor.sizes.size() > limits_.dimensions) {
    return object.error("has more than " + std::to_string(limits_.dimensions) + " dimensions");
  }
  // A stride of 0 makes many elements of few bytes.
  if (spec::element_count(tensor.sizes) > limits_.bytes / spec::item_size_bytes(tensor.dtype)) {
    return object.error("has more than " + std::to_string(limits_.bytes) + " bytes of elements");
  }
  return tensor;
}
Result<HostTensor> StoredTensors::tensor_of(const JsonCursor& object) const {
  return read_member(object, "tensor", std::bind_front(&StoredTensors::read_tensor, this));
}

}  // namespace graphgate::tools
