// What readers of stored runs share (trace_store.h): members of JSON objects, tensors over stored
// storages, and the script.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/run/script.h"
#include "interop/json_fields.h"
#include "interop/safetensors.h"

namespace graphgate::tools {

// Required members of an object. Errors name the place.
[[nodiscard]] Result<std::size_t> read_index(const interop::JsonCursor& object,
                                             std::string_view key);
[[nodiscard]] Result<std::map<std::string, std::string>> read_texts(
    const interop::JsonCursor& object, std::string_view key);
[[nodiscard]] Result<conformance::Configuration> read_configuration(
    const interop::JsonCursor& object, std::string_view key);

[[nodiscard]] Result<std::vector<std::string>> read_strings(const interop::JsonCursor& object,
                                                            std::string_view key);
[[nodiscard]] Result<spec::DType> read_dtype(const interop::JsonCursor& object);

// The member "outcome" of an object.
[[nodiscard]] Result<spec::Outcome> read_outcome(const interop::JsonCursor& object);
// The members "dtype", "sizes", "strides" and, where it is there, "storage_offset".
template <class Layout>
[[nodiscard]] Result<void> read_layout(const interop::JsonCursor& object, Layout& out) {
  GRAPHGATE_TRY(out.dtype, read_dtype(object));
  GRAPHGATE_TRY(out.sizes, read_ints(object, "sizes"));
  GRAPHGATE_TRY(out.strides, read_ints(object, "strides"));
  return read_optional(object, "storage_offset", out.storage_offset);
}
// The index of one of `programs`, at "program".
[[nodiscard]] Result<std::size_t> read_program_index(const interop::JsonCursor& object,
                                                     std::size_t programs);

// The builtin ops and the rows listed at `key`. kBadInput, with the place, for a row that is none.
[[nodiscard]] Result<std::shared_ptr<const spec::OpTable>> read_ops(
    const interop::JsonCursor& object, std::string_view key);

// How much tensors may be that others have stored.
struct TensorLimits {
  // Of all contents together, and of the elements of each tensor.
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  std::size_t dimensions = std::numeric_limits<std::size_t>::max();
};

// The bytes of a stored run. Tensors of one storage share memory, as they did.
class StoredTensors {
 public:
  // `root` is run.json, which lists the storages; their contents are in `folder`. kBadInput, before
  // anything is read, for contents beyond the limits.
  [[nodiscard]] static Result<StoredTensors> open(const std::filesystem::path& folder,
                                                  const interop::JsonCursor& root,
                                                  const TensorLimits& limits = {});

  // A content by name.
  [[nodiscard]] Result<const spec::HostTensor*> content_at(const interop::JsonCursor& name) const;
  // kBadInput for a tensor that does not fit its storage, or is beyond the limits.
  [[nodiscard]] Result<spec::HostTensor> read_tensor(const interop::JsonCursor& object) const;
  // The member "tensor" of an object.
  [[nodiscard]] Result<spec::HostTensor> tensor_of(const interop::JsonCursor& object) const;

  // A tensor or a number; for outputs None, too.
  template <class Value>
  [[nodiscard]] Result<Value> read_value(const interop::JsonCursor& cursor) const {
    if constexpr (std::is_same_v<Value, spec::OutputValue>) {
      if (cursor.is_null()) return Value(spec::None{});
    }
    GRAPHGATE_TRY(const auto only, cursor.only_member());
    const auto& [kind, value] = only;
    if (kind == "tensor") {
      GRAPHGATE_TRY(spec::HostTensor tensor, read_tensor(value));
      return Value(std::move(tensor));
    }
    if (kind == "int") {
      GRAPHGATE_TRY(const std::int64_t i, value.as_int());
      return Value(i);
    }
    if (kind == "float") {
      GRAPHGATE_TRY(const double x, value.as_double());
      return Value(x);
    }
    if (kind != "bool") return cursor.error("expected tensor, int, float or bool");
    GRAPHGATE_TRY(const bool b, value.as_bool());
    return Value(b);
  }
  template <class Value>
  [[nodiscard]] Result<std::vector<Value>> read_values(const interop::JsonCursor& object,
                                                       std::string_view key) const {
    std::vector<Value> values;
    GRAPHGATE_TRY_VOID(
        read_list(object, key, values, std::bind_front(&StoredTensors::read_value<Value>, this)));
    return values;
  }
  // Calls take(name, tensor) for each element of a list of named tensors.
  template <class Take>
  [[nodiscard]] Result<void> read_tensors(const interop::JsonCursor& object, std::string_view key,
                                          Take take) const {
    return read_list(object, key, [&](const interop::JsonCursor& each) -> Result<void> {
      GRAPHGATE_TRY(const std::string name, read_string(each, "name"));
      GRAPHGATE_TRY(spec::HostTensor tensor, tensor_of(each));
      take(name, std::move(tensor));
      return {};
    });
  }

 private:
  TensorLimits limits_;
  interop::NamedTensors contents_;
  std::vector<std::shared_ptr<spec::HostStorage>> storages_;
};

// The script of a stored run; its programs' texts are in `folder`.
[[nodiscard]] Result<conformance::Script> read_stored_script(const std::filesystem::path& folder,
                                                             const interop::JsonCursor& object,
                                                             const StoredTensors& tensors);

}  // namespace graphgate::tools
