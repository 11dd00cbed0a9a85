// Results of XLA's instructions over their operands: from which index of an operand does each
// element of the result come?
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "conformance/verify/hlo_parts.h"

namespace graphgate::verify {
namespace {

using spec::HloComputation;
using spec::HloInstruction;
using spec::HloModule;
using spec::HloPart;

bool is_elementwise(const std::string& opcode) {
  static const std::set<std::string> kOpcodes = {"abs",
                                                 "add",
                                                 "and",
                                                 "atan2",
                                                 "bitcast-convert",
                                                 "cbrt",
                                                 "ceil",
                                                 "clamp",
                                                 "compare",
                                                 "complex",
                                                 "convert",
                                                 "copy",
                                                 "cosine",
                                                 "count-leading-zeros",
                                                 "divide",
                                                 "erf",
                                                 "exponential",
                                                 "exponential-minus-one",
                                                 "floor",
                                                 "imag",
                                                 "is-finite",
                                                 "log",
                                                 "log-plus-one",
                                                 "logistic",
                                                 "map",
                                                 "maximum",
                                                 "minimum",
                                                 "multiply",
                                                 "negate",
                                                 "not",
                                                 "or",
                                                 "popcnt",
                                                 "power",
                                                 "real",
                                                 "reduce-precision",
                                                 "remainder",
                                                 "round-nearest-afz",
                                                 "round-nearest-even",
                                                 "rsqrt",
                                                 "select",
                                                 "shift-left",
                                                 "shift-right-arithmetic",
                                                 "shift-right-logical",
                                                 "sign",
                                                 "sine",
                                                 "sqrt",
                                                 "subtract",
                                                 "tan",
                                                 "tanh",
                                                 "xor"};
  return kOpcodes.contains(opcode);
}

bool same_index_space(const HloPart& a, const HloPart& b) {
  return !a.is_tuple && !b.is_tuple && a.dims == b.dims && a.layout == b.layout;
}

std::int64_t elements_of(const HloPart& part) {
  std::int64_t count = 1;
  for (const std::int64_t size : part.dims) count *= size;
  return count;
}

// How an element of a value depends on the parameter that is followed.
struct Reads {
  enum class Kind : std::uint8_t {
    kNothing,
    kSameIndex,  // on the element of the same index
    kRegion,     // on that of the index moved by `starts`, as a dynamic-slice takes it
    kOther,
  };
  Kind kind = Kind::kNothing;
  std::vector<std::string> starts = {};
  std::vector<std::int64_t> of_dims = {};  // of the array that the region is of
  friend bool operator==(const Reads&, const Reads&) = default;
};

using Kind = Reads::Kind;

// What tells two start indices to be equal: a constant's text, or the instruction.
std::string start_name(const HloComputation& in, std::size_t instruction) {
  const HloInstruction& one = in.instructions[instruction];
  if (one.opcode == "constant" && !one.literal.empty()) return "=" + one.literal;
  return one.name;
}

std::vector<std::string> starts_of(const HloComputation& in, const HloInstruction& one,
                                   std::size_t first) {
  std::vector<std::string> starts;
  for (std::size_t i = first; i < one.operands.size(); ++i) {
    starts.push_back(start_name(in, one.operands[i]));
  }
  return starts;
}

class Follower {
 public:
  Follower(const HloComputation& in, std::size_t parameter)
      : in_(in), reads_(in.instructions.size()) {
    for (std::size_t i = 0; i < in.instructions.size(); ++i) {
      reads_[i] = i == in.parameters[parameter] ? Reads{Kind::kSameIndex} : reads_of(i);
    }
  }

  // Of all results, so that it does not matter which is written first.
  [[nodiscard]] bool only_same_index() const {
    const HloInstruction& root = in_.instructions[in_.root];
    if (root.opcode != "tuple") return is_harmless(in_.root);
    return std::all_of(root.operands.begin(), root.operands.end(),
                       [this](std::size_t operand) { return is_harmless(operand); });
  }

 private:
  [[nodiscard]] bool is_harmless(std::size_t instruction) const {
    const Kind kind = reads_[instruction].kind;
    return kind == Kind::kNothing || kind == Kind::kSameIndex;
  }

  [[nodiscard]] Reads reads_of(std::size_t i) const {
    const HloInstruction& one = in_.instructions[i];
    const auto of = [&](std::size_t operand) -> const Reads& {
      return reads_[one.operands[operand]];
    };
    const auto tells_nothing = [&](std::size_t from) {
      for (std::size_t k = from; k < one.operands.size(); ++k) {
        if (of(k).kind != Kind::kNothing) return false;
      }
      return true;
    };
    if (tells_nothing(0)) return {};
    if (is_elementwise(one.opcode)) return elementwise(one);
    if (one.opcode == "bitcast") return bitcast(one);
    if (one.opcode == "tuple") return {};  // a root: its operands are looked at
    if (one.opcode == "dynamic-slice" && tells_nothing(1) && of(0).kind == Kind::kSameIndex) {
      return {Kind::kRegion, starts_of(in_, one, 1),
              in_.instructions[one.operands[0]].shape.parts[0].dims};
    }
    if (one.opcode == "dynamic-update-slice" && tells_nothing(2)) return update(one);
    // A scatter reads its first operand where it writes.
    if (one.opcode == "scatter" && one.operands.size() == 3 && tells_nothing(1)) return of(0);
    return {Kind::kOther};
  }

  [[nodiscard]] Reads elementwise(const HloInstruction& one) const {
    Reads all;
    for (const std::size_t operand : one.operands) {
      const Reads& reads = reads_[operand];
      if (reads.kind == Kind::kNothing) continue;
      if (!same_index_space(in_.instructions[operand].shape.parts[0], one.shape.parts[0])) {
        return {Kind::kOther};
      }
      if (all.kind != Kind::kNothing && !(all == reads)) return {Kind::kOther};
      all = reads;
    }
    return all;
  }

  // Keeps the order of elements in memory, and so the index along it.
  [[nodiscard]] Reads bitcast(const HloInstruction& one) const {
    const Reads& reads = reads_[one.operands[0]];
    const HloPart& from = in_.instructions[one.operands[0]].shape.parts[0];
    const HloPart& to = one.shape.parts[0];
    const bool keeps = elements_of(from) == elements_of(to) && from.element_bits == to.element_bits;
    if (!keeps) return {Kind::kOther};
    if (reads.kind == Kind::kRegion && from.dims != to.dims) return {Kind::kOther};
    return reads;
  }

  // Only the region is new; elsewhere the element is that of the same index.
  [[nodiscard]] Reads update(const HloInstruction& one) const {
    const Reads& base = reads_[one.operands[0]];
    const Reads& patch = reads_[one.operands[1]];
    if (base.kind != Kind::kNothing && base.kind != Kind::kSameIndex) return {Kind::kOther};
    if (patch.kind == Kind::kNothing) return base;
    const bool same_region = patch.kind == Kind::kRegion &&
                             patch.starts == starts_of(in_, one, 2) &&
                             patch.of_dims == one.shape.parts[0].dims;
    return {same_region ? Kind::kSameIndex : Kind::kOther};
  }

  const HloComputation& in_;
  std::vector<Reads> reads_;
};

}  // namespace

bool may_write_over(const HloModule& module, const HloInstruction& user, const HloComputation& in,
                    std::size_t result_part, std::size_t operand, std::size_t operand_part) {
  for (const spec::HloOperandAlias& alias : user.aliases) {
    if (alias.result_part == result_part && alias.operand == operand &&
        alias.operand_part == operand_part) {
      return true;
    }
  }
  const HloPart& result = user.shape.parts[result_part];
  const HloPart& read = in.instructions[user.operands[operand]].shape.parts[operand_part];
  if (result.is_tuple || read.is_tuple || result.element_bits != read.element_bits) return false;
  if (is_elementwise(user.opcode)) return same_index_space(result, read);
  // Result k of a sort or scatter is operand k, with other elements in it.
  if (user.opcode == "sort" || user.opcode == "scatter") {
    const std::size_t first = user.shape.parts[0].is_tuple ? 1 : 0;
    return result_part == first + operand && same_index_space(result, read);
  }
  if (user.opcode == "dynamic-update-slice") return operand == 0;
  // A device puts its sum where its own part was.
  if (user.opcode == "all-reduce") {
    const std::size_t first = user.shape.parts[0].is_tuple ? 1 : 0;
    return result_part == first + operand && same_index_space(result, read);
  }
  if (user.opcode == "fusion") {
    const HloComputation& inside = module.computations[user.calls[0].computation];
    return Follower(inside, operand).only_same_index();
  }
  return false;
}

}  // namespace graphgate::verify
