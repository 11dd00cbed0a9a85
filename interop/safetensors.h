// safetensors files: named tensors, stored contiguous and little-endian.
//
//   bytes 0..8        length of the header, unsigned little-endian
//   bytes 8..8+n      JSON: {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
//   ..} the rest          the tensors' bytes; offsets count from here and leave no byte unused
//
// The format has no complex128. Such a tensor is written as F64 with one more dimension, of size 2,
// and "__metadata__" lists it: {"complex128": "[\"NAME\"]"}. Readers that do not know the key see
// pairs of numbers. C64 is the format's own.
//
// Inputs, recorded outputs and op cases travel in this form. Every claim of a header is checked
// before anything is allocated. The dtype is known. Offsets lie inside the file, are in order and
// do not overlap. Sizes times item size is the byte count. Duplicate names are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_io.h"
#include "base/result.h"
#include "spec/tensor.h"

namespace graphgate::interop {

// The format's own limit.
inline constexpr std::int64_t kMaxSafetensorsHeaderBytes = 100'000'000;

using NamedTensors = std::map<std::string, spec::HostTensor, std::less<>>;

struct Safetensors {
  NamedTensors tensors;
  std::map<std::string, std::string> metadata;  // "__metadata__": free text
};

// What the header says of one tensor. Half-open: bytes [begin_bytes, end_bytes) of the data.
struct SafetensorsEntry {
  spec::DType dtype = spec::DType::kFloat32;
  std::vector<std::int64_t> sizes;
  std::int64_t begin_bytes = 0;
  std::int64_t end_bytes = 0;
};

// A file whose header is read and checked, and whose tensors are read one by one on demand.
class SafetensorsFile {
 public:
  [[nodiscard]] static Result<SafetensorsFile> open(const std::string& path);
  // The bytes must outlive the object.
  [[nodiscard]] static Result<SafetensorsFile> from_bytes(std::span<const std::byte> bytes,
                                                          std::string name);

  [[nodiscard]] const std::string& name() const { return source_->name(); }
  [[nodiscard]] const std::map<std::string, SafetensorsEntry, std::less<>>& entries() const {
    return entries_;
  }
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }
  [[nodiscard]] bool contains(std::string_view tensor) const { return entries_.contains(tensor); }
  // A contiguous tensor on the CPU with a storage of its own. Fails when the name is absent.
  [[nodiscard]] Result<spec::HostTensor> read(std::string_view tensor) const;

 private:
  explicit SafetensorsFile(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  Result<void> read_header();
  Result<void> check_coverage(std::int64_t data_bytes) const;

  std::unique_ptr<ByteSource> source_;
  std::int64_t data_offset_bytes_ = 0;
  std::map<std::string, SafetensorsEntry, std::less<>> entries_;
  std::map<std::string, std::string> metadata_;
};

// All tensors of a file.
[[nodiscard]] Result<Safetensors> read_safetensors(const std::string& path);
[[nodiscard]] Result<Safetensors> read_safetensors_bytes(std::span<const std::byte> bytes,
                                                         std::string name);

// Writes the tensors' elements contiguously, whatever their strides; sharing is not kept. The same
// tensors give the same bytes: larger items first, then by name, so that all are aligned. `path`
// appears whole or stays as it was.
[[nodiscard]] Result<void> write_safetensors(
    const std::string& path, const NamedTensors& tensors,
    const std::map<std::string, std::string>& metadata = {});

}  // namespace graphgate::interop
