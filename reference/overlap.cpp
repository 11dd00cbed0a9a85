#include "reference/overlap.h"

#include <algorithm>
#include <optional>

#include "reference/layout.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

// Which bytes of its storage a tensor's elements are.
class Bytes {
 public:
  // Throws Undecidable where two elements share one.
  explicit Bytes(const Tensor& tensor) : taken_(tensor.storage->host->bytes.size(), false) {
    const auto item = spec::item_size_bytes(tensor.dtype);
    for (const std::int64_t position : element_positions(tensor)) {
      for (std::int64_t b = position * item; b < (position + 1) * item; ++b) {
        if (taken_[static_cast<std::size_t>(b)]) {
          throw Undecidable(
              "more than one element of the written-to tensor is one place in memory, "
              "which PyTorch refuses or leaves open");
        }
        taken_[static_cast<std::size_t>(b)] = true;
      }
    }
  }

  [[nodiscard]] bool hold_one_of(const Tensor& tensor) const {
    const auto item = spec::item_size_bytes(tensor.dtype);
    const std::vector<std::int64_t> positions = element_positions(tensor);
    return std::any_of(positions.begin(), positions.end(), [&](std::int64_t position) {
      const auto first = taken_.begin() + position * item;
      return std::find(first, first + item, true) != first + item;
    });
  }

 private:
  std::vector<bool> taken_;
};

// The view that broadcasting makes of a tensor; nothing where it does not broadcast to the sizes.
std::optional<Tensor> stretched(const Tensor& tensor, const std::vector<std::int64_t>& sizes) {
  if (tensor.sizes.size() > sizes.size()) return std::nullopt;
  const std::size_t added = sizes.size() - tensor.sizes.size();
  for (std::size_t d = added; d < sizes.size(); ++d) {
    const std::int64_t size = tensor.sizes[d - added];
    if (size != sizes[d] && size != 1) return std::nullopt;
  }
  Tensor wide = tensor;
  wide.sizes = sizes;
  wide.strides = stretched_strides(tensor, sizes);
  return wide;
}

bool is_same_memory(const Tensor& written, const Tensor& operand) {
  if (spec::item_size_bytes(written.dtype) != spec::item_size_bytes(operand.dtype)) return false;
  const std::optional<Tensor> wide = stretched(operand, written.sizes);
  if (!wide) return false;
  if (wide->offset == written.offset && wide->strides == written.strides) return true;
  return element_positions(written) == element_positions(*wide);
}

// Calls check(written, read) for each pair of tensors that share a storage.
template <class Check>
void for_each_sharing_pair(const spec::OpRow& row, std::span<const Datum> arguments,
                           Check&& check) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!row.effects.mutates(k)) continue;
    for_each_tensor(arguments[k], [&](const TensorRef& target) {
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (row.effects.mutates(i)) continue;
        for_each_tensor(arguments[i], [&](const TensorRef& operand) {
          if (operand->storage == target->storage) check(*target, *operand);
        });
      }
    });
  }
}

// What most calls are given: written tensors whose elements lie apart, in storages that nothing
// else lies in.
bool are_plainly_apart(const spec::OpRow& row, std::span<const Datum> arguments) {
  bool are_apart = true;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!row.effects.mutates(k)) continue;
    const auto* target = arguments[k].as<TensorRef>();
    are_apart = are_apart && target && is_non_overlapping_and_dense(**target);
  }
  for_each_sharing_pair(row, arguments, [&](const Tensor&, const Tensor&) { are_apart = false; });
  return are_apart;
}

void require_elements_apart(const spec::OpRow& row, std::span<const Datum> arguments) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (!row.effects.mutates(k)) continue;
    for_each_tensor(arguments[k], [](const TensorRef& target) {
      if (!is_non_overlapping_and_dense(*target)) (void)Bytes(*target);
    });
  }
}

void require_same_or_apart(const Tensor& written, const Tensor& operand) {
  if (is_same_memory(written, operand) || !Bytes(written).hold_one_of(operand)) return;
  throw Undecidable(
      "the written-to tensor shares bytes with an operand in part, which PyTorch refuses or "
      "leaves open");
}

}  // namespace

void require_no_partial_overlap(const spec::OpRow& row, std::span<const Datum> arguments) {
  if (!row.effects.mutates() || row.has_tag("inplace_view")) return;
  if (are_plainly_apart(row, arguments) || writes_one_number(row)) return;
  require_elements_apart(row, arguments);
  for_each_sharing_pair(row, arguments, require_same_or_apart);
}

void require_no_partial_overlap(const Tensor& written, const Tensor& read) {
  if (!is_non_overlapping_and_dense(written)) (void)Bytes(written);
  if (written.storage == read.storage) require_same_or_apart(written, read);
}

bool broadcasts_to(const Tensor& tensor, const std::vector<std::int64_t>& sizes) {
  return stretched(tensor, sizes).has_value();
}

void require_apart(const spec::OpRow& row, std::span<const Datum> arguments) {
  for_each_sharing_pair(row, arguments, [](const Tensor& written, const Tensor& operand) {
    if (!Bytes(written).hold_one_of(operand)) return;
    throw Undecidable("the written-to tensor shares bytes with an operand, which PyTorch refuses");
  });
}

void require_apart_from_all(const spec::OpRow& row, std::span<const Datum> arguments) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const auto* target = arguments[k].as<TensorRef>();
    if (!target || !row.writes(k)) continue;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto* other = arguments[i].as<TensorRef>();
      if (i == k || !other || (*other)->storage != (*target)->storage) continue;
      if (!Bytes(**target).hold_one_of(**other)) continue;
      throw Undecidable("'" + row.schema.arguments[k].name +
                        "' is written and shares bytes with '" + row.schema.arguments[i].name +
                        "': which is first is open");
    }
  }
}

}  // namespace graphgate::reference
