// The module's text: computations, instructions, and what they call.
#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "interop/xla_dump.h"
#include "interop/xla_text.h"

namespace graphgate::interop {
namespace {

using spec::HloCall;
using spec::HloCallRole;
using spec::HloComputation;
using spec::HloInstruction;
using spec::HloModule;

constexpr std::size_t kLiteralBytes = 40;
constexpr std::size_t kNestingMax = 64;  // of control flow

// Run beside the rest, or in parts: what lies where at which time, order alone does not tell.
bool runs_beside(std::string_view opcode) {
  constexpr std::array<std::string_view, 6> kOthers = {"send",      "recv",         "send-done",
                                                       "recv-done", "async-update", "infeed"};
  return opcode.ends_with("-start") || opcode.ends_with("-done") ||
         std::find(kOthers.begin(), kOthers.end(), opcode) != kOthers.end();
}

// What stands behind the operands: "calls=%c, index=1, metadata={...}".
struct Attribute {
  std::string_view name;
  std::string_view value;
};

std::vector<Attribute> attributes_of(std::string_view text) {
  std::vector<Attribute> attributes;
  for (const std::string_view word : split_at_commas(text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    attributes.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return attributes;
}

class HloReader {
 public:
  HloReader(std::string_view text, std::string_view name) : lines_(text, name), name_(name) {}

  Result<HloModule> read() {
    GRAPHGATE_TRY_VOID(read_header());
    bool has_entry = false;
    while (lines_.next()) {
      const std::string_view line = lines_.line();
      // Tables of files, functions and frames stand between the header and the computations.
      if (line.empty() || is_table(line)) continue;
      const bool is_entry = line.starts_with("ENTRY ");
      if (is_entry && has_entry) return lines_.expected("one ENTRY");
      has_entry = has_entry || is_entry;
      GRAPHGATE_TRY_VOID(read_computation());
      if (is_entry) module_.entry = module_.computations.size() - 1;
    }
    if (!has_entry) return lines_.at_line(bad_input("expected an ENTRY before the end"));
    const auto resolved = resolve_donations();
    if (!resolved.ok()) return resolved.error().at(name_ + ":1");
    return std::move(module_);
  }

 private:
  static bool is_table(std::string_view line) {
    constexpr std::array<std::string_view, 4> kTitles = {"FileNames", "FunctionNames",
                                                         "FileLocations", "StackFrames"};
    return (line.front() >= '0' && line.front() <= '9') ||
           std::find(kTitles.begin(), kTitles.end(), line) != kTitles.end();
  }

  Error here(const Error& error) const { return lines_.at_line(error); }

  Result<void> read_header() {
    if (!lines_.next()) return here(bad_input("expected HloModule, found an empty file"));
    std::string_view line = lines_.line();
    if (!take(line, "HloModule ")) return lines_.expected("HloModule");
    module_.name = take_name(line);
    bool is_scheduled = false;
    for (const auto& [name, value] : attributes_of(line)) {
      is_scheduled = is_scheduled || (name == "is_scheduled" && value == "true");
      if (name == "input_output_alias") donations_ = value;
    }
    if (is_scheduled) return {};
    return here(unsupported("a module without a schedule (is_scheduled=true)"));
  }

  Result<void> read_computation() {
    std::string_view line = lines_.line();
    take(line, "ENTRY ");
    HloComputation computation;
    computation.name = take_name(line);
    if (computation.name.empty() || !line.ends_with("{")) {
      return lines_.expected("the head of a computation");
    }
    if (!computations_.emplace(computation.name, module_.computations.size()).second) {
      return here(bad_input("computation " + in_quotes(computation.name) + " stands twice"));
    }
    places_.clear();
    nesting_ = 0;
    std::optional<std::size_t> root;
    for (;;) {
      if (!lines_.next()) return here(bad_input("expected } before the end"));
      std::string_view text = lines_.line();
      if (text.starts_with("}")) break;
      while (take(text, " ")) {
      }
      if (take(text, "ROOT ")) {
        if (root) return lines_.expected("one ROOT");
        root = computation.instructions.size();
      }
      GRAPHGATE_TRY_VOID(read_instruction(text, computation));
    }
    if (!root) return here(bad_input("expected a ROOT in " + in_quotes(computation.name)));
    computation.root = *root;
    GRAPHGATE_TRY_VOID(order_parameters(computation));
    module_.computations.push_back(std::move(computation));
    nestings_.push_back(nesting_);
    return {};
  }

  Result<void> order_parameters(HloComputation& computation) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < computation.instructions.size(); ++i) {
      if (computation.instructions[i].opcode == "parameter") found.push_back(i);
    }
    computation.parameters.assign(found.size(), computation.instructions.size());
    for (const std::size_t i : found) {
      const std::int64_t number = computation.instructions[i].number;
      const auto place = static_cast<std::size_t>(number);
      if (place >= found.size() ||
          computation.parameters[place] != computation.instructions.size()) {
        return here(bad_input("expected parameters 0 to " + std::to_string(found.size() - 1) +
                              " once each in " + in_quotes(computation.name)));
      }
      computation.parameters[place] = i;
    }
    return {};
  }

  // "%name = shape opcode(operands), attributes"
  Result<void> read_instruction(std::string_view text, HloComputation& before) {
    HloInstruction instruction;
    instruction.line = lines_.number();
    instruction.name = take_name(text);
    if (instruction.name.empty() || !take(text, " = ")) return lines_.expected("an instruction");
    if (!names_.emplace(instruction.name).second) {
      return here(bad_input("instruction " + in_quotes(instruction.name) + " stands twice"));
    }
    auto shape = take_shape(text);
    if (!shape.ok()) return here(shape.error());
    instruction.shape = std::move(shape).value();
    if (!take(text, " ")) return lines_.expected("an opcode behind the shape");
    instruction.opcode = take_name(text);
    const std::string_view in_brackets = text.starts_with("(") ? take_balanced(text) : "";
    if (instruction.opcode.empty() || in_brackets.empty()) {
      return lines_.expected("an opcode with operands in brackets");
    }
    if (runs_beside(instruction.opcode)) {
      return here(unsupported("opcode " + instruction.opcode));
    }
    const std::string_view inside = in_brackets.substr(1, in_brackets.size() - 2);
    GRAPHGATE_TRY_VOID(read_operands(inside, instruction));
    GRAPHGATE_TRY_VOID(read_attributes(attributes_of(text), before, instruction));
    const auto checked = check(instruction, before);
    if (!checked.ok()) return here(checked.error());
    places_[instruction.name] = before.instructions.size();
    before.instructions.push_back(std::move(instruction));
    return {};
  }

  Result<void> read_operands(std::string_view inside, HloInstruction& instruction) {
    if (instruction.opcode == "constant") {
      if (inside.size() <= kLiteralBytes) instruction.literal = inside;
      return {};
    }
    if (instruction.opcode == "parameter") {
      const auto number = take_number(inside);
      if (!number || !inside.empty()) return lines_.expected("the number of a parameter");
      instruction.number = *number;
      return {};
    }
    for (std::string_view operand : split_at_commas(inside)) {
      const std::size_t blank = operand.rfind(' ');  // a shape may stand before the name
      if (blank != std::string_view::npos) operand.remove_prefix(blank + 1);
      const auto found = places_.find(take_name(operand));
      if (found == places_.end() || !operand.empty()) {
        return lines_.expected("operands that stand before it in its computation");
      }
      instruction.operands.push_back(found->second);
    }
    return {};
  }

  Result<void> add_call(std::string_view text, HloCallRole role, HloInstruction& instruction) {
    const std::string_view name = take_name(text);
    const auto found = computations_.find(name);
    // Its own computation is in the table, and not yet in the module.
    if (found == computations_.end() || found->second >= module_.computations.size() ||
        !text.empty()) {
      return here(bad_input("expected a computation that stands before, found " + in_quotes(name)));
    }
    if (role != HloCallRole::kInside) {
      if (!called_.insert(found->second).second) {
        return here(unsupported("a computation with two callers, " + in_quotes(name)));
      }
      nesting_ = std::max(nesting_, nestings_[found->second] + 1);
      if (nesting_ > kNestingMax) {
        return here(unsupported("control flow more than " + std::to_string(kNestingMax) + " deep"));
      }
    }
    instruction.calls.push_back({role, found->second});
    return {};
  }

  Result<void> read_attributes(const std::vector<Attribute>& attributes,
                               const HloComputation& before, HloInstruction& instruction) {
    const bool is_call = instruction.opcode == "call";
    const bool is_while = instruction.opcode == "while";
    for (auto [name, value] : attributes) {
      if (name == "calls" || name == "to_apply" || name == "select" || name == "scatter") {
        GRAPHGATE_TRY_VOID(
            add_call(value, is_call ? HloCallRole::kInline : HloCallRole::kInside, instruction));
      } else if (is_while && (name == "condition" || name == "body")) {
        GRAPHGATE_TRY_VOID(add_call(
            value, name == "body" ? HloCallRole::kBody : HloCallRole::kCondition, instruction));
      } else if (name == "true_computation" || name == "false_computation") {
        GRAPHGATE_TRY_VOID(add_call(value, HloCallRole::kBranch, instruction));
      } else if (name == "branch_computations" || name == "called_computations") {
        if (!take(value, "{") || !value.ends_with("}")) return lines_.expected("computations");
        value.remove_suffix(1);
        const HloCallRole role =
            name == "branch_computations" ? HloCallRole::kBranch : HloCallRole::kInside;
        for (const std::string_view one : split_at_commas(value)) {
          GRAPHGATE_TRY_VOID(add_call(one, role, instruction));
        }
      } else if (name == "index" && instruction.opcode == "get-tuple-element") {
        const auto number = take_number(value);
        if (!number || !value.empty()) return lines_.expected("index=NUMBER");
        instruction.number = *number;
      } else if (name == "output_to_operand_aliasing") {
        GRAPHGATE_TRY_VOID(read_aliases(value, before, instruction));
      }
    }
    return {};
  }

  // "{{}: (1, {}), {0}: (2, {})}"
  Result<void> read_aliases(std::string_view text, const HloComputation& before,
                            HloInstruction& instruction) {
    const auto wrong = [&] { return lines_.expected("output_to_operand_aliasing={{}: (0, {})}"); };
    if (!take(text, "{")) return wrong();
    while (!take(text, "}")) {
      spec::HloOperandAlias alias;
      const auto result_part = part_of(instruction.shape, take_shape_index(text));
      if (!result_part || !take(text, ": (")) return wrong();
      const auto operand = take_number(text);
      if (!operand || !take(text, ", ")) return wrong();
      const std::string operand_index = take_shape_index(text);
      const auto number = static_cast<std::size_t>(*operand);
      if (!take(text, ")") || number >= instruction.operands.size()) return wrong();
      const auto& from = before.instructions[instruction.operands[number]];
      const auto operand_part = part_of(from.shape, operand_index);
      if (!operand_part) return wrong();
      instruction.aliases.push_back({*result_part, number, *operand_part});
      if (!take(text, ", ") && !text.starts_with("}")) return wrong();
    }
    return {};
  }

  // The root's shape of a computation; the number of its parameters, and the shape of one.
  const spec::HloShape& result_of(std::size_t computation) const {
    const HloComputation& called = module_.computations[computation];
    return called.instructions[called.root].shape;
  }
  const spec::HloShape& taken_by(std::size_t computation, std::size_t parameter) const {
    const HloComputation& called = module_.computations[computation];
    return called.instructions[called.parameters[parameter]].shape;
  }

  // Equal but for layouts of arrays, which a bitcast may change.
  static bool agree(std::span<const spec::HloPart> a, std::span<const spec::HloPart> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
      return x.is_tuple == y.is_tuple && x.subtree_parts == y.subtree_parts &&
             x.size_bytes == y.size_bytes;
    });
  }
  static bool agree(const spec::HloShape& a, const spec::HloShape& b) {
    return agree(std::span(a.parts), std::span(b.parts));
  }

  Result<void> check(const HloInstruction& one, const HloComputation& in) const {
    const auto shape_of = [&](std::size_t operand) -> const spec::HloShape& {
      return in.instructions[one.operands[operand]].shape;
    };
    const auto wrong = [&](std::string_view what) {
      return bad_input(in_quotes(one.name) + ": expected " + std::string(what));
    };
    if (one.opcode == "get-tuple-element") {
      const auto element = static_cast<std::size_t>(one.number);
      if (one.operands.size() != 1 || !shape_of(0).parts[0].is_tuple ||
          one.number >= shape_of(0).parts[0].size_bytes / 8) {
        return wrong("an element of a tuple");
      }
      const std::size_t part = shape_of(0).element_part(element);
      const auto parts = std::span(shape_of(0).parts);
      if (!agree(parts.subspan(part, parts[part].subtree_parts), one.shape.parts)) {
        return wrong("the shape of the tuple's element");
      }
    }
    if (one.opcode == "tuple") {
      std::size_t part = 1;
      bool fits = one.shape.parts[0].is_tuple;
      for (std::size_t i = 0; fits && i < one.operands.size(); ++i) {
        const auto parts = std::span(one.shape.parts).subspan(part);
        fits = !parts.empty() &&
               agree(parts.first(parts[0].subtree_parts), std::span(shape_of(i).parts));
        part += shape_of(i).parts.size();
      }
      if (!fits || part != one.shape.parts.size()) return wrong("a tuple of its operands");
    }
    if (one.opcode == "bitcast" || one.opcode == "opt-barrier" ||
        one.opcode == "optimization-barrier" || one.opcode == "add-dependency" ||
        one.opcode == "domain") {
      if (one.operands.empty() || !agree(shape_of(0), one.shape)) {
        return wrong("the shape of its operand");
      }
    }
    return check_calls(one, shape_of, wrong);
  }

  template <class ShapeOf, class Wrong>
  Result<void> check_calls(const HloInstruction& one, const ShapeOf& shape_of,
                           const Wrong& wrong) const {
    const auto takes = [&](std::size_t computation, std::size_t parameter, std::size_t operand) {
      return parameter < module_.computations[computation].parameters.size() &&
             operand < one.operands.size() &&
             agree(taken_by(computation, parameter), shape_of(operand));
    };
    const auto parameters = [&](std::size_t computation) {
      return module_.computations[computation].parameters.size();
    };
    if (one.opcode == "while") {
      const bool fits = one.calls.size() == 2 && one.calls[0].role != one.calls[1].role &&
                        one.operands.size() == 1 && agree(shape_of(0), one.shape);
      if (!fits) return wrong("one operand, a condition and a body");
      for (const HloCall& call : one.calls) {
        if (parameters(call.computation) != 1 || !takes(call.computation, 0, 0)) {
          return wrong("a condition and a body that take its operand");
        }
        const auto& result = result_of(call.computation);
        const bool is_right = call.role == HloCallRole::kBody
                                  ? agree(result, one.shape)
                                  : result.parts.size() == 1 && result.parts[0].dtype == "pred";
        if (!is_right) return wrong("a body that returns its shape, and a condition that decides");
      }
    }
    if (one.opcode == "conditional") {
      if (one.calls.empty() || one.operands.size() != one.calls.size() + 1) {
        return wrong("an operand for each branch, and one that chooses");
      }
      for (std::size_t i = 0; i < one.calls.size(); ++i) {
        const std::size_t branch = one.calls[i].computation;
        if (one.calls[i].role != HloCallRole::kBranch || parameters(branch) != 1 ||
            !takes(branch, 0, i + 1) || !agree(result_of(branch), one.shape)) {
          return wrong("branches that take its operands and return its shape");
        }
      }
    }
    if (one.opcode == "call") {
      bool fits = one.calls.size() == 1 && one.calls[0].role == HloCallRole::kInline &&
                  parameters(one.calls[0].computation) == one.operands.size() &&
                  agree(result_of(one.calls[0].computation), one.shape);
      for (std::size_t i = 0; fits && i < one.operands.size(); ++i) {
        fits = takes(one.calls[0].computation, i, i);
      }
      if (!fits) return wrong("a computation that takes its operands and returns its shape");
    }
    if (one.opcode == "fusion") {
      const bool fits = one.calls.size() == 1 && one.calls[0].role == HloCallRole::kInside &&
                        parameters(one.calls[0].computation) == one.operands.size() &&
                        result_of(one.calls[0].computation).parts.size() == one.shape.parts.size();
      if (!fits) return wrong("a computation that takes its operands and returns its shape");
    }
    return {};
  }

  // "{ {0}: (0, {}, may-alias), {1}: (1, {}, must-alias) }"
  Result<void> resolve_donations() {
    std::string_view text = donations_;
    if (text.empty()) return {};
    const HloComputation& entry = module_.computations[module_.entry];
    const auto& result = entry.instructions[entry.root].shape;
    const auto wrong = [&] {
      return bad_input("expected input_output_alias={ {OUTPUT}: (PARAMETER, {}, may-alias) }");
    };
    const auto skip = [&] {
      while (take(text, " ")) {
      }
    };
    if (!take(text, "{")) return wrong();
    for (skip(); !take(text, "}"); skip()) {
      const auto output_part = part_of(result, take_shape_index(text));
      if (!output_part || !take(text, ": (")) return wrong();
      const auto parameter = take_number(text);
      if (!parameter || static_cast<std::size_t>(*parameter) >= entry.parameters.size()) {
        return wrong();
      }
      const auto number = static_cast<std::size_t>(*parameter);
      if (!take(text, ", ")) return wrong();
      const auto parameter_part =
          part_of(entry.instructions[entry.parameters[number]].shape, take_shape_index(text));
      const bool must = text.starts_with(", must-alias");
      if (!parameter_part || (!take(text, ", may-alias)") && !take(text, ", must-alias)"))) {
        return wrong();
      }
      module_.donations.push_back({*output_part, number, *parameter_part, must});
      take(text, ",");
    }
    return {};
  }

  XlaLines lines_;
  std::string name_;
  HloModule module_;
  std::string_view donations_;
  std::set<std::string, std::less<>> names_;  // of all instructions
  std::map<std::string, std::size_t, std::less<>> computations_;
  std::map<std::string, std::size_t, std::less<>> places_;  // in the computation being read
  std::set<std::size_t> called_;                            // with control flow
  std::vector<std::size_t> nestings_;                       // by computation
  std::size_t nesting_ = 0;                                 // of the one being read
};

}  // namespace

Result<HloModule> parse_hlo(std::string_view text, std::string_view name) {
  return HloReader(text, name).read();
}

}  // namespace graphgate::interop
