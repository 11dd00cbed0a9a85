#include "interop/safetensors.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/atomic_file.h"
#include "interop/json_fields.h"
#include "interop/json_stream.h"

namespace graphgate::interop {

using spec::DType;
using spec::HostTensor;

namespace {

constexpr std::int64_t kLengthBytes = 8;
// Some hundred thousand tensors.
constexpr std::size_t kMaxHeaderValues = std::size_t{4} << 20U;

constexpr std::array<std::pair<std::string_view, DType>, spec::kDTypeCount> kDTypeNames = {{
    {"F64", DType::kFloat64},
    {"F32", DType::kFloat32},
    {"F16", DType::kFloat16},
    {"BF16", DType::kBFloat16},
    {"F8_E4M3", DType::kFloat8E4M3FN},
    {"F8_E5M2", DType::kFloat8E5M2},
    {"I64", DType::kInt64},
    {"I32", DType::kInt32},
    {"I16", DType::kInt16},
    {"I8", DType::kInt8},
    {"U8", DType::kUInt8},
    {"BOOL", DType::kBool},
    {"C64", DType::kComplex64},
    {"C128", DType::kComplex128},  // read alone: the format's own library does not know it
}};
// The key of the metadata that lists tensors of complex128, which the format lacks: they are F64
// with one more dimension, of size 2.
constexpr const char* kComplex128Key = "complex128";
// What the format has and this project has not.
constexpr std::array<std::string_view, 7> kForeignDTypeNames = {
    "U16", "U32", "U64", "F8_E8M0", "F4", "F6_E2M3", "F6_E3M2"};

Result<DType> read_dtype(const JsonCursor& cursor) {
  GRAPHGATE_TRY(const std::string text, cursor.as_string());
  for (const auto& [name, dtype] : kDTypeNames) {
    if (name == text) return dtype;
  }
  for (const std::string_view foreign : kForeignDTypeNames) {
    if (foreign == text) return cursor.unsupported_here("dtype " + text);
  }
  return cursor.error("unknown dtype '" + text + "'");
}

Result<SafetensorsEntry> read_entry(const JsonCursor& cursor, std::int64_t data_bytes) {
  SafetensorsEntry entry;
  GRAPHGATE_TRY(entry.dtype, read_member(cursor, "dtype", read_dtype));
  GRAPHGATE_TRY(const JsonCursor shape, cursor.member("shape"));
  GRAPHGATE_TRY(entry.sizes, shape.as_ints());
  GRAPHGATE_TRY(const JsonCursor offsets_cursor, cursor.member("data_offsets"));
  GRAPHGATE_TRY(const auto offsets, offsets_cursor.as_ints());
  if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0]) {
    return offsets_cursor.error("expected a begin >= 0 and an end that is not before it");
  }
  entry.begin_bytes = offsets[0];
  entry.end_bytes = offsets[1];
  if (entry.end_bytes > data_bytes) {
    return offsets_cursor.error("ends at byte " + std::to_string(entry.end_bytes) +
                                ", the file has " + std::to_string(data_bytes) + " bytes of data");
  }
  const auto count = spec::checked_element_count(entry.sizes);
  const std::int64_t item = spec::item_size_bytes(entry.dtype);
  const std::int64_t bytes = entry.end_bytes - entry.begin_bytes;
  if (!count || bytes % item != 0 || *count != bytes / item) {
    return shape.error("the sizes do not make the " + std::to_string(bytes) +
                       " bytes that data_offsets give");
  }
  return entry;
}

// Makes the entries that the metadata lists complex128.
Result<void> pair_up(const std::string& list,
                     std::map<std::string, SafetensorsEntry, std::less<>>& entries) {
  GRAPHGATE_TRY(const Json json, parse_json(list, kComplex128Key));
  const JsonCursor root(json, kComplex128Key);
  GRAPHGATE_TRY(const auto names, read_elements(root, &JsonCursor::as_string));
  for (const std::string& name : names) {
    const auto found = entries.find(name);
    if (found == entries.end()) return root.error("no tensor is called '" + name + "'");
    SafetensorsEntry& entry = found->second;
    if (entry.dtype != DType::kFloat64 || entry.sizes.empty() || entry.sizes.back() != 2) {
      return root.error("expected '" + name + "' as F64, its last dimension of size 2");
    }
    entry.dtype = DType::kComplex128;
    entry.sizes.pop_back();
  }
  return {};
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  GRAPHGATE_TRY(auto source, open_file(path));
  SafetensorsFile file(std::move(source));
  GRAPHGATE_TRY_VOID(file.read_header());
  return file;
}

Result<SafetensorsFile> SafetensorsFile::from_bytes(std::span<const std::byte> bytes,
                                                    std::string name) {
  SafetensorsFile file(memory_source(bytes, std::move(name)));
  GRAPHGATE_TRY_VOID(file.read_header());
  return file;
}

Result<void> SafetensorsFile::read_header() {
  std::array<std::byte, kLengthBytes> length_bytes{};
  GRAPHGATE_TRY_VOID(source_->read_at(0, length_bytes));
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes.size(); i-- > 0;) {
    length = length << 8U | std::to_integer<std::uint64_t>(length_bytes[i]);
  }
  const std::int64_t rest = source_->size_bytes() - kLengthBytes;
  if (length > static_cast<std::uint64_t>(std::min(rest, kMaxSafetensorsHeaderBytes))) {
    return bad_input("the header claims " + std::to_string(length) + " bytes, the file has " +
                     std::to_string(rest) + " after its length")
        .at(name());
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  GRAPHGATE_TRY_VOID(source_->read_at(kLengthBytes, std::as_writable_bytes(std::span(text))));
  data_offset_bytes_ = kLengthBytes + static_cast<std::int64_t>(length);
  const std::int64_t data_bytes = source_->size_bytes() - data_offset_bytes_;
  const auto within = check_json_limits(text, {kMaxJsonDepth, kMaxHeaderValues});
  if (!within.ok()) return within.error().at(name());
  GRAPHGATE_TRY(const Json header, parse_json(text, name()));
  const JsonCursor root(header, name());
  GRAPHGATE_TRY(const auto members, root.members());
  for (const auto& [key, cursor] : members) {
    if (key != "__metadata__") {
      GRAPHGATE_TRY(SafetensorsEntry entry, read_entry(cursor, data_bytes));
      entries_.emplace(key, std::move(entry));
      continue;
    }
    GRAPHGATE_TRY(const auto texts, cursor.members());
    for (const auto& [metadata_key, value] : texts) {
      GRAPHGATE_TRY(metadata_[std::string(metadata_key)], value.as_string());
    }
  }
  const auto pairs = metadata_.find(kComplex128Key);
  if (pairs != metadata_.end()) {
    const auto paired = pair_up(pairs->second, entries_);
    if (!paired.ok()) return paired.error().at(name() + ": __metadata__");
    metadata_.erase(pairs);
  }
  return check_coverage(data_bytes);
}

// Tensors lie one after the other: none overlaps another, and no byte is left over.
Result<void> SafetensorsFile::check_coverage(std::int64_t data_bytes) const {
  std::vector<std::pair<std::int64_t, std::string_view>> order;
  order.reserve(entries_.size());
  for (const auto& [tensor, entry] : entries_) {
    if (entry.end_bytes > entry.begin_bytes) order.emplace_back(entry.begin_bytes, tensor);
  }
  std::sort(order.begin(), order.end());
  std::int64_t covered = 0;
  for (const auto& [begin, tensor] : order) {
    if (begin < covered) {
      return bad_input("overlaps the tensor before it").at(name() + ": " + std::string(tensor));
    }
    if (begin > covered) break;
    covered = entries_.find(tensor)->second.end_bytes;
  }
  if (covered == data_bytes) return {};
  return bad_input("byte " + std::to_string(covered) + " of the data belongs to no tensor")
      .at(name());
}

Result<HostTensor> SafetensorsFile::read(std::string_view tensor) const {
  const auto found = entries_.find(tensor);
  if (found == entries_.end()) {
    return bad_input("has no tensor '" + std::string(tensor) + "'").at(name());
  }
  const SafetensorsEntry& entry = found->second;
  HostTensor out = spec::make_host_tensor(entry.dtype, entry.sizes);
  GRAPHGATE_TRY_VOID(source_->read_at(data_offset_bytes_ + entry.begin_bytes, out.storage->bytes));
  return out;
}

namespace {

Result<Safetensors> read_all(const SafetensorsFile& file) {
  Safetensors out;
  out.metadata = file.metadata();
  for (const auto& [name, entry] : file.entries()) {
    GRAPHGATE_TRY(HostTensor tensor, file.read(name));
    out.tensors.emplace(name, std::move(tensor));
  }
  return out;
}

}  // namespace

Result<Safetensors> read_safetensors(const std::string& path) {
  GRAPHGATE_TRY(const SafetensorsFile file, SafetensorsFile::open(path));
  return read_all(file);
}

Result<Safetensors> read_safetensors_bytes(std::span<const std::byte> bytes, std::string name) {
  GRAPHGATE_TRY(const SafetensorsFile file, SafetensorsFile::from_bytes(bytes, std::move(name)));
  return read_all(file);
}

namespace {

using Ordered = std::vector<NamedTensors::const_pointer>;

std::string header_text(const Ordered& ordered, std::map<std::string, std::string> metadata) {
  Json header = Json::object();
  Json pairs = Json::array();
  std::int64_t offset = 0;
  for (const auto* named : ordered) {
    const HostTensor& tensor = named->second;
    const std::int64_t bytes =
        spec::element_count(tensor.sizes) * spec::item_size_bytes(tensor.dtype);
    const bool is_pair = tensor.dtype == DType::kComplex128;
    const DType written = is_pair ? spec::component_dtype(tensor.dtype) : tensor.dtype;
    std::vector<std::int64_t> shape = tensor.sizes;
    if (is_pair) {
      pairs.push_back(named->first);
      shape.push_back(2);
    }
    std::string_view dtype_name;
    for (const auto& [name, dtype] : kDTypeNames) {
      if (dtype == written) dtype_name = name;
    }
    header[named->first] = {
        {"dtype", dtype_name}, {"shape", shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  if (!pairs.empty()) metadata.insert_or_assign(kComplex128Key, pairs.dump());
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data is aligned
  return text;
}

}  // namespace

Result<void> write_safetensors(const std::string& path, const NamedTensors& tensors,
                               const std::map<std::string, std::string>& metadata) {
  Ordered ordered;
  for (const auto& named : tensors) {
    if (named.first == "__metadata__") return bad_input("'__metadata__' names no tensor").at(path);
    ordered.push_back(&named);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) {
    return spec::item_size_bytes(a->second.dtype) > spec::item_size_bytes(b->second.dtype);
  });
  std::string header;
  try {
    header = header_text(ordered, metadata);
  } catch (const Json::exception&) {
    return bad_input("a name is not UTF-8").at(path);
  }
  std::array<std::byte, kLengthBytes> length{};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<std::byte>(header.size() >> (8 * i) & 0xFFU);
  }
  GRAPHGATE_TRY(AtomicFile file, AtomicFile::create(path));
  GRAPHGATE_TRY_VOID(file.write(length));
  GRAPHGATE_TRY_VOID(file.write(std::as_bytes(std::span(header))));
  for (const auto* named : ordered) {
    GRAPHGATE_TRY_VOID(file.write(spec::packed_bytes(named->second)));
  }
  return file.commit();
}

}  // namespace graphgate::interop
