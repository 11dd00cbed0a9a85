// The elements of a tensor as a list, or its storage as hexadecimal digits; declared in
// type_text.h.
#include <charconv>
#include <cstddef>

#include "spec/element_text.h"
#include "spec/type_text.h"

namespace graphgate::spec {
namespace {

// Whether a flat list says everything: packed elements that are the whole storage.
bool is_whole_storage(const HostTensor& tensor) {
  const auto bytes = element_count(tensor.sizes) * item_size_bytes(tensor.dtype);
  return tensor.storage_offset == 0 && tensor.strides == contiguous_strides(tensor.sizes) &&
         static_cast<std::size_t>(bytes) == tensor.storage->bytes.size();
}

std::optional<std::string> print_elements(const HostTensor& tensor) {
  if (!is_whole_storage(tensor)) return std::nullopt;
  const std::span<const std::byte> bytes = tensor.storage->bytes;
  const auto item = static_cast<std::size_t>(item_size_bytes(tensor.dtype));
  std::string text = "[";
  for (std::size_t at = 0; at < bytes.size(); at += item) {
    const auto element = print_element(tensor.dtype, bytes.subspan(at, item));
    if (!element) return std::nullopt;
    if (at > 0) text += ", ";
    text += *element;
  }
  return text + "]";
}

std::string print_bytes(const HostStorage& storage) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "bytes \"";
  for (const std::byte byte : storage.bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    text += {kDigits[value >> 4U], kDigits[value & 15U]};
  }
  return text + "\"";
}

Result<std::shared_ptr<HostStorage>> read_bytes(TextReader& reader) {
  const Token start = reader.peek();
  GRAPHGATE_TRY(const std::string digits, reader.take_string("hexadecimal digits in quotes"));
  auto storage = std::make_shared<HostStorage>();
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    unsigned byte = 0;
    const char* last = digits.data() + std::min(at + 2, digits.size());
    const auto [end, code] = std::from_chars(digits.data() + at, last, byte, 16);
    if (code != std::errc() || end != digits.data() + at + 2) {
      return reader.error_at(start, "expected pairs of hexadecimal digits");
    }
    storage->bytes.push_back(static_cast<std::byte>(byte));
  }
  return storage;
}

Error wrong_count(const TextReader& reader, const Token& start, std::int64_t wanted,
                  std::string_view found) {
  return reader.error_at(
      start, "expected " + std::to_string(wanted) + " elements, found " + std::string(found));
}

// `count` comes from the declared sizes and may be huge: memory grows with the text alone.
Result<std::shared_ptr<HostStorage>> read_elements(TextReader& reader, const Token& start,
                                                   DType dtype, std::int64_t count) {
  const auto item = static_cast<std::size_t>(item_size_bytes(dtype));
  auto storage = std::make_shared<HostStorage>();
  std::int64_t found = 0;
  while (!reader.accept("]")) {
    if (found > 0) {
      if (!reader.accept(",")) return reader.expected("',' or ']'");
    }
    if (found == count) return wrong_count(reader, start, count, "more");
    storage->bytes.resize(storage->bytes.size() + item);
    const auto element = std::span(storage->bytes).last(item);
    GRAPHGATE_TRY_VOID(read_element(reader, dtype, element));
    ++found;
  }
  if (found < count) return wrong_count(reader, start, count, std::to_string(found));
  return storage;
}

}  // namespace

std::string print_tensor_data(const HostTensor& tensor) {
  auto elements = print_elements(tensor);
  return elements ? std::move(*elements) : print_bytes(*tensor.storage);
}

Result<HostTensor> read_tensor_data(TextReader& reader, const TensorType& type) {
  const Token start = reader.peek();
  auto tensor = concrete_geometry(type);
  if (!tensor) {
    return reader.error_at(
        start, "expected no elements here: the type " + print_tensor_type(type) + " is symbolic");
  }
  if (reader.accept("bytes")) {
    GRAPHGATE_TRY(tensor->storage, read_bytes(reader));
  } else {
    if (!reader.accept("[")) return reader.expected("'[' or bytes");
    const auto count = checked_element_count(tensor->sizes);
    if (!count) return reader.error_at(start, "expected sizes with a 64-bit product");
    GRAPHGATE_TRY(tensor->storage, read_elements(reader, start, type.dtype, *count));
  }
  const auto size_bytes = static_cast<std::int64_t>(tensor->storage->bytes.size());
  if (!geometry_fits(*tensor, size_bytes)) {
    return reader.error_at(start, "the elements of " + print_tensor_type(type) + " do not fit in " +
                                      std::to_string(size_bytes) + " bytes");
  }
  return std::move(*tensor);
}

}  // namespace graphgate::spec
