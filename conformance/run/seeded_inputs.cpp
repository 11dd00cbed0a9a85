#include "conformance/run/seeded_inputs.h"

#include <algorithm>
#include <cstring>

#include "base/split_mix.h"
#include "conformance/run/input_layout.h"

namespace graphgate::conformance {
namespace {

using spec::DType;
using spec::HostTensor;

class Generator : public SplitMix64 {
 public:
  using SplitMix64::SplitMix64;
  // A number close to standard normal: the sum of 12 uniform ones, less 6. Exact in float64.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(next() >> 12U) * 0x1p-52;
    return sum;
  }
};

// float32 bits of x; the 16- and 8-bit formats keep the leading bits of theirs (any value will do).
std::uint32_t float_bits(double x) {
  const auto single = static_cast<float>(x);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &single, sizeof(bits));
  return bits;
}

// IEEE half from a float32 in its normal range, cut toward zero.
std::uint16_t half_bits(double x) {
  const std::uint32_t bits = float_bits(x);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const auto exponent = static_cast<int>((bits >> 23U) & 0xFFU) - 127 + 15;
  if (exponent <= 0) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | (static_cast<std::uint32_t>(exponent) << 10U) |
                                    ((bits >> 13U) & 0x3FFU));
}

void fill_element(std::byte* at, DType dtype, Generator& random) {
  const auto put = [at](auto value) { std::memcpy(at, &value, sizeof(value)); };
  const auto bit = static_cast<std::uint8_t>(random.next() >> 63U);
  switch (dtype) {
    case DType::kFloat64:
      return put(random.normal());
    case DType::kFloat32:
      return put(float_bits(random.normal()));
    case DType::kBFloat16:
      return put(static_cast<std::uint16_t>(float_bits(random.normal()) >> 16U));
    case DType::kFloat16:
      return put(half_bits(random.normal()));
    case DType::kFloat8E5M2:
      return put(static_cast<std::uint8_t>(half_bits(random.normal()) >> 8U));
    case DType::kFloat8E4M3FN:  // a sign and a value of at least 2^-6 and at most 15
      return put(
          static_cast<std::uint8_t>((std::uint64_t{bit} << 7U) | (8U + random.next() % 72U)));
    case DType::kInt64:
      return put(static_cast<std::int64_t>(bit));
    case DType::kInt32:
      return put(static_cast<std::int32_t>(bit));
    case DType::kInt16:
      return put(static_cast<std::int16_t>(bit));
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kBool:
      return put(bit);
    case DType::kComplex64:
      return put(std::array{float_bits(random.normal()), float_bits(random.normal())});
    case DType::kComplex128: {
      const double real = random.normal();
      return put(std::array{real, random.normal()});
    }
  }
}

// A size for a symbol: the traced one first, then others of its range, at most kMostSize.
std::int64_t pick_size(const spec::SymbolInfo& info, int call) {
  constexpr std::int64_t kMostSize = 16;
  const std::int64_t least = std::max<std::int64_t>(info.min, 1);
  const std::int64_t most = std::min(info.max.value_or(kMostSize), std::max(kMostSize, least));
  const std::int64_t hint = std::clamp(info.hint.value_or(least), least, std::max(least, most));
  return least + (hint - least + call) % (std::max(most, least) - least + 1);
}

Result<HostTensor> draw_tensor(const std::string& place, const spec::TensorType& type,
                               const spec::SymbolValues& symbols, Generator& random) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(type.sizes.size());
  for (const spec::SymExpr& size : type.sizes) {
    GRAPHGATE_TRY(const std::int64_t number, spec::evaluate(size, symbols));
    sizes.push_back(number);
  }
  constexpr std::int64_t kMostElements = std::int64_t{1} << 28U;
  const auto count = spec::checked_element_count(sizes);
  if (!count || *count > kMostElements) {
    return bad_input(
        place + ": expected sizes of 0 or more, and at most 2^28 elements, to draw it from a seed");
  }
  HostTensor tensor = spec::make_host_tensor(type.dtype, sizes, type.device);
  const std::int64_t item = spec::item_size_bytes(tensor.dtype);
  for (std::size_t at = 0; at < tensor.storage->bytes.size();
       at += static_cast<std::size_t>(item)) {
    fill_element(tensor.storage->bytes.data() + at, tensor.dtype, random);
  }
  return tensor;
}

Result<spec::InputValue> draw_input(const spec::Program& program, const spec::Value& value,
                                    const spec::SymbolValues& symbols, Generator& random) {
  if (value.kind == spec::ValueKind::kSymInt) {
    GRAPHGATE_TRY(const std::int64_t number,
                  spec::evaluate(value.expr.value_or(spec::SymExpr(1)), symbols));
    return spec::InputValue(number);
  }
  if (value.kind == spec::ValueKind::kSymFloat) return spec::InputValue(random.normal());
  if (value.kind == spec::ValueKind::kSymBool) return spec::InputValue(random.next() % 2 == 0);
  const std::string place = program.name + ": input '" + value.name + "'";
  if (!value.type) return bad_input(place + " has no type");
  GRAPHGATE_TRY(HostTensor tensor, draw_tensor(place, *value.type, symbols, random));
  return spec::InputValue(std::move(tensor));
}

spec::SymbolValues sizes_of_call(const spec::Program& program, int call) {
  spec::SymbolValues symbols;
  for (const auto& [name, info] : program.symbols) symbols.emplace(name, pick_size(info, call));
  return symbols;
}

}  // namespace

std::uint64_t seed_of_part(std::uint64_t seed, std::uint64_t part) {
  return Generator(seed ^ Generator(part + 1).next()).next();
}

std::int64_t traced_size(const spec::SymbolInfo& info) { return pick_size(info, 0); }

Result<spec::InputValue> seeded_input(const spec::Program& program, const spec::Value& value,
                                      const spec::SymbolValues& symbols, std::uint64_t seed) {
  Generator random(seed);
  return draw_input(program, value, symbols, random);
}

Result<HostTensor> seeded_state(const spec::Program& program, const spec::ProgramInput& input,
                                std::uint64_t seed) {
  const spec::Value& value = program.graph.value(input.value);
  const std::string place = program.name + ": '" + input.target + "'";
  if (!value.type) return bad_input(place + " has no type");
  const spec::SymbolValues symbols = sizes_of_call(program, 0);
  Generator random(seed);
  GRAPHGATE_TRY(const HostTensor packed, draw_tensor(place, *value.type, symbols, random));
  return laid_out(packed, *value.type, symbols);
}

Result<std::vector<spec::InputValue>> seeded_inputs(const spec::Program& program,
                                                    std::uint64_t seed, int call) {
  Generator random(seed + static_cast<std::uint64_t>(call) * 0x632BE59BD9B4E019U);
  const spec::SymbolValues symbols = sizes_of_call(program, call);
  std::vector<spec::InputValue> inputs;
  for (const spec::ProgramInput& input : program.inputs) {
    if (input.kind != spec::InputKind::kUserInput || input.constant) continue;
    GRAPHGATE_TRY(spec::InputValue drawn,
                  draw_input(program, program.graph.value(input.value), symbols, random));
    inputs.push_back(std::move(drawn));
  }
  lay_out_inputs(program, inputs);
  return inputs;
}

}  // namespace graphgate::conformance
