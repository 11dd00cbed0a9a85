#include "conformance/judges/exact_data.h"

#include <cstring>
#include <map>
#include <optional>

#include "base/split_mix.h"

namespace graphgate::conformance {
namespace {

using spec::DType;
using spec::HostTensor;

class Draws : private SplitMix64 {
 public:
  using SplitMix64::SplitMix64;
  int integer(const ExactLevel& level) {
    const std::uint64_t draw = next();
    if (draw % static_cast<std::uint64_t>(level.sparsity) != 0) return 0;
    const auto count = 2 * static_cast<std::uint64_t>(level.magnitude) + 1;
    return static_cast<int>((draw >> 32U) % count) - level.magnitude;
  }
};

// Bits of a binary float: sign, `exponent_bits`, `fraction_bits`.
std::uint64_t float_bits(int value, int exponent_bits, int fraction_bits) {
  const std::uint64_t sign = value < 0 ? 1 : 0;
  auto size = static_cast<std::uint64_t>(value < 0 ? -value : value);
  if (size == 0) return 0;
  int exponent = 0;
  while ((size >> (exponent + 1)) != 0) ++exponent;
  const std::uint64_t below = size - (std::uint64_t{1} << exponent);
  // Fractions shorter than the exponent would cut bits: 7 needs two of them.
  const std::uint64_t fraction = fraction_bits >= exponent ? below << (fraction_bits - exponent)
                                                           : below >> (exponent - fraction_bits);
  const std::uint64_t bias = (std::uint64_t{1} << (exponent_bits - 1)) - 1;
  const std::uint64_t biased = bias + static_cast<std::uint64_t>(exponent);
  return (sign << (exponent_bits + fraction_bits)) | (biased << fraction_bits) | fraction;
}

struct Format {
  int exponent_bits = 0;
  int fraction_bits = 0;
};

std::optional<Format> format_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return Format{11, 52};
    case DType::kFloat32:
      return Format{8, 23};
    case DType::kFloat16:
      return Format{5, 10};
    case DType::kBFloat16:
      return Format{8, 7};
    case DType::kFloat8E4M3FN:
      return Format{4, 3};
    case DType::kFloat8E5M2:
      return Format{5, 2};
    default:
      return std::nullopt;
  }
}

// Draws storages anew, each once; views keep their geometry over the new bytes.
class Redraw {
 public:
  Redraw(const ExactLevel& level, std::uint64_t seed) : level_(level), draws_(seed) {}

  // All tensors must be noted before any is redrawn: a storage that two dtypes see stays. Complex
  // numbers are pairs of those of their parts.
  void note(const HostTensor& tensor) {
    const DType dtype = spec::component_dtype(tensor.dtype);
    const auto [at, is_new] = seen_.try_emplace(tensor.storage.get(), dtype);
    if (!is_new && at->second != dtype) at->second = std::nullopt;
  }

  [[nodiscard]] HostTensor redraw(HostTensor tensor) {
    const auto seen = seen_.find(tensor.storage.get());
    if (seen == seen_.end() || !seen->second || !spec::is_floating_point(*seen->second)) {
      return tensor;
    }
    auto& drawn = drawn_[tensor.storage.get()];
    if (!drawn) drawn = draw(*tensor.storage, *seen->second);
    tensor.storage = drawn;
    return tensor;
  }

  [[nodiscard]] double number() { return draws_.integer({level_.magnitude, 1}); }

 private:
  std::shared_ptr<spec::HostStorage> draw(const spec::HostStorage& old, DType dtype) {
    auto storage = std::make_shared<spec::HostStorage>();
    storage->bytes.resize(old.bytes.size());
    const auto item = static_cast<std::size_t>(spec::item_size_bytes(dtype));
    for (std::size_t at = 0; at + item <= storage->bytes.size(); at += item) {
      write_integer(storage->bytes.data() + at, dtype, draws_.integer(level_));
    }
    return storage;
  }

  ExactLevel level_;
  Draws draws_;
  std::map<const spec::HostStorage*, std::optional<DType>> seen_;
  std::map<const spec::HostStorage*, std::shared_ptr<spec::HostStorage>> drawn_;
};

// Calls `visit` with every tensor of the script's steps.
template <class Steps, class Visit>
void for_each_tensor(Steps& steps, Visit&& visit) {
  for (auto& step : steps) {
    if (auto* call = std::get_if<ScriptCall>(&step)) {
      for (auto& input : call->inputs) {
        if (auto* tensor = std::get_if<HostTensor>(&input)) visit(*tensor);
      }
    }
    if (auto* swap = std::get_if<ScriptSwap>(&step)) {
      for (auto& [target, tensor] : swap->values) visit(tensor);
    }
  }
}

void redraw_numbers(std::vector<ScriptStep>& steps, Redraw& redraw) {
  for (ScriptStep& step : steps) {
    auto* call = std::get_if<ScriptCall>(&step);
    if (!call) continue;
    call->expected.reset();
    for (spec::InputValue& input : call->inputs) {
      if (std::holds_alternative<double>(input)) input = redraw.number();
    }
  }
}

}  // namespace

std::span<const ExactLevel> exact_levels() {
  static constexpr ExactLevel kLevels[] = {{4, 1}, {2, 2}, {1, 2}, {1, 4}, {1, 16}};
  return kLevels;
}

void write_integer(std::byte* at, DType dtype, int value) {
  const auto format = format_of(dtype);
  GRAPHGATE_CHECK(format && value >= -8 && value <= 8);
  const std::uint64_t bits = float_bits(value, format->exponent_bits, format->fraction_bits);
  std::memcpy(at, &bits, static_cast<std::size_t>(spec::item_size_bytes(dtype)));
}

Script with_exact_data(const Script& script, const ExactLevel& level, std::uint64_t seed) {
  Script out = script;
  Redraw redraw(level, seed);
  for (const auto& program : script.programs) {
    for (const auto& [target, tensor] : program->tensors) redraw.note(tensor);
  }
  for_each_tensor(out.steps, [&](const HostTensor& tensor) { redraw.note(tensor); });
  for (auto& program : out.programs) {
    auto drawn = std::make_shared<spec::Program>(*program);
    for (auto& [target, tensor] : drawn->tensors) tensor = redraw.redraw(tensor);
    program = std::move(drawn);
  }
  for_each_tensor(out.steps, [&](HostTensor& tensor) { tensor = redraw.redraw(tensor); });
  redraw_numbers(out.steps, redraw);
  return out;
}

}  // namespace graphgate::conformance
