// Runs a module of XLA by hand, over what its bytes hold.
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "conformance/verify/content_map.h"
#include "conformance/verify/hlo_parts.h"

namespace graphgate::verify {
namespace {

using spec::Finding;
using spec::HloCall;
using spec::HloCallRole;
using spec::HloComputation;
using spec::HloInstruction;
using spec::HloPosition;
using spec::HloValue;

// Conditions run twice, so conditions in conditions multiply.
constexpr std::int64_t kStepsMax = 2'000'000;

// What stands at a position: contents, and the value in whose place they lie.
struct Held {
  Writer content = 0;
  std::size_t value = kNoHloValue;
};
using HeldParts = std::vector<Held>;  // by part

class Walk {
 public:
  Walk(const HloIndex& index, std::vector<Finding>& out)
      : index_(index),
        plan_(index.plan()),
        out_(out),
        memory_(plan_.allocations.size()),
        uses_(plan_.values.size()) {}

  std::vector<HloUse> run() {
    find_donated();
    begin_with_constants();
    const std::size_t entry = plan_.module.entry;
    run_apart(entry);
    // Those that have memory of their own: one run each, from what they are given.
    for (std::size_t c = 0; c < plan_.module.computations.size(); ++c) {
      if (c != entry && index_.time(c, 0) < 0 && has_places(c)) run_apart(c);
    }
    return std::move(uses_);
  }

 private:
  // Parameters are there; at the end the results are.
  void run_apart(std::size_t c) {
    const HloComputation& computation = index_.computation(c);
    std::vector<HeldParts> parameters;
    for (const std::size_t parameter : computation.parameters) {
      parameters.push_back(make_all(c, parameter));
    }
    const HeldParts result = run_computation(c, parameters);
    const bool is_entry = c == plan_.module.entry;
    for (std::size_t part = 0; part < result.size(); ++part) {
      const HloPosition root{c, computation.root, part};
      need(result[part], root, index_.end_time(c), "is returned");
      if (is_entry) check_output(result[part], root);
    }
  }

  void check_output(const Held& held, const HloPosition& root) {
    if (held.value == kNoHloValue) return;
    const auto& allocation = plan_.allocations[plan_.values[held.value].allocation];
    if (!allocation.maybe_live_out && !allocation.is_constant && !allocation.parameter) {
      add("V5.freed-output",
          index_.placed(held.value) + " is returned as " + index_.name(root) +
              ", and its allocation is not one that lives on",
          held.value);
    }
    for (const spec::HloDonation& donation : plan_.module.donations) {
      if (!donation.must || donation.output_part != root.part) continue;
      if (allocation.parameter == static_cast<std::int64_t>(donation.parameter)) continue;
      add("V4.wrong-result",
          index_.placed(held.value) + " is returned as " + index_.name(root) +
              ", and does not lie in the memory of parameter " +
              std::to_string(donation.parameter) + ", as must-alias says",
          held.value);
    }
  }

  // Runs from parameters to the root.
  HeldParts run_computation(std::size_t c, std::span<const HeldParts> parameters) {
    const HloComputation& computation = index_.computation(c);
    std::vector<HeldParts> all(computation.instructions.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const HloInstruction& one = computation.instructions[i];
      if (one.opcode == "parameter") {
        all[i] = parameters[static_cast<std::size_t>(one.number)];
      } else {
        all[i] = run_instruction(c, i, all);
      }
    }
    return all[computation.root];
  }

  HeldParts run_instruction(std::size_t c, std::size_t i, const std::vector<HeldParts>& all) {
    const HloInstruction& one = index_.computation(c).instructions[i];
    const auto operand = [&](std::size_t k) -> const HeldParts& { return all[one.operands[k]]; };
    if (one.opcode == "constant") return {constant_of({c, i, 0})};
    if (one.opcode == "get-tuple-element") {
      read(operand(0)[0], {c, i, 0});  // the tuple's pointers
      const auto& shape = index_.computation(c).instructions[one.operands[0]].shape;
      const std::size_t part = shape.element_part(static_cast<std::size_t>(one.number));
      const auto begin = operand(0).begin() + static_cast<std::ptrdiff_t>(part);
      return HeldParts(begin, begin + static_cast<std::ptrdiff_t>(one.shape.parts.size()));
    }
    if (one.opcode == "tuple") return make_tuple(c, i, all);
    if (one.opcode == "while") return run_while(c, i, operand(0));
    if (one.opcode == "conditional") return run_conditional(c, i, all);
    if (one.opcode == "call") {
      std::vector<HeldParts> parameters;
      for (std::size_t k = 0; k < one.operands.size(); ++k) parameters.push_back(operand(k));
      return carried_to(c, i, run_computation(one.calls[0].computation, parameters), false);
    }
    if (passes_on(one) && index_.value_at({c, i, 0}) == kNoHloValue) return operand(0);
    return run_kernel(c, i, all);
  }

  static bool passes_on(const HloInstruction& one) {
    return one.opcode == "bitcast" || one.opcode == "opt-barrier" ||
           one.opcode == "optimization-barrier" || one.opcode == "add-dependency" ||
           one.opcode == "domain";
  }

  HeldParts make_tuple(std::size_t c, std::size_t i, const std::vector<HeldParts>& all) {
    HeldParts parts = {make({c, i, 0})};
    for (const std::size_t operand : index_.computation(c).instructions[i].operands) {
      parts.insert(parts.end(), all[operand].begin(), all[operand].end());
    }
    return parts;
  }

  // Reads all of its operands, and then writes all of its results.
  HeldParts run_kernel(std::size_t c, std::size_t i, const std::vector<HeldParts>& all) {
    const HloComputation& computation = index_.computation(c);
    const HloInstruction& one = computation.instructions[i];
    for (const std::size_t operand : one.operands) {
      for (const Held& held : all[operand]) read(held, {c, i, 0});
    }
    for (std::size_t part = 0; part < one.shape.parts.size(); ++part) {
      const std::size_t result = index_.value_at({c, i, part});
      if (result == kNoHloValue) continue;
      for (std::size_t k = 0; k < one.operands.size(); ++k) {
        const HeldParts& held = all[one.operands[k]];
        for (std::size_t from = 0; from < held.size(); ++from) {
          check_in_place(computation, one, {part, k, from}, result, held[from].value);
        }
      }
      for (std::size_t other = 0; other < part; ++other) {
        check_apart(index_.value_at({c, i, other}), result);
      }
    }
    return make_all(c, i);
  }

  struct Pair {
    std::size_t result_part, operand, operand_part;
  };

  void check_in_place(const HloComputation& in, const HloInstruction& user, const Pair& pair,
                      std::size_t result, std::size_t read) {
    if (read == kNoHloValue || !share_bytes(result, read)) return;
    if (same_place(result, read) &&
        may_write_over(plan_.module, user, in, pair.result_part, pair.operand, pair.operand_part)) {
      return;
    }
    add("V3.in-place",
        index_.placed(result) + " lies over " + index_.placed(read) +
            ", which it reads, and not element over element",
        result, read);
  }

  void check_apart(std::size_t a, std::size_t b) {
    if (a == kNoHloValue || b == kNoHloValue || !share_bytes(a, b)) return;
    add("V3.overlap", index_.placed(a) + " and " + index_.placed(b) + " are made at once", a, b);
  }

  // A condition and a body find in each iteration what the one before has left: first what the loop
  // is given, then what the body returns.
  HeldParts run_while(std::size_t c, std::size_t i, const HeldParts& given) {
    const HloInstruction& one = index_.computation(c).instructions[i];
    const bool condition_first = one.calls[0].role == HloCallRole::kCondition;
    const std::size_t condition = one.calls[condition_first ? 0 : 1].computation;
    const std::size_t body = one.calls[condition_first ? 1 : 0].computation;
    const HloPosition of_condition{condition, index_.computation(condition).parameters[0], 0};
    const HloPosition of_body{body, index_.computation(body).parameters[0], 0};
    std::vector<bool> carried(given.size());
    std::vector<Writer> contents(given.size());
    for (std::size_t part = 0; part < given.size(); ++part) {
      for (HloPosition at : {of_condition, of_body, HloPosition{c, i, 0}}) {
        at.part = part;
        if (index_.value_at(at) != kNoHloValue) carried[part] = true;
      }
      if (carried[part]) contents[part] = next_content(index_.value_at({c, i, part}));
    }
    // What stands at one of the loop's positions in the middle of an iteration.
    const auto inside = [&](HloPosition at) {
      HeldParts parts = given;
      for (std::size_t part = 0; part < given.size(); ++part) {
        at.part = part;
        if (carried[part]) parts[part] = {contents[part], place_of(at)};
      }
      return parts;
    };
    // Hands `from` over to the position, in the bytes where it lies already.
    const auto hand_over = [&](const HeldParts& from, HloPosition to, const HloPosition& user,
                               std::int64_t time) {
      for (std::size_t part = 0; part < given.size(); ++part) {
        to.part = part;
        if (!carried[part]) {
          if (from[part].content != given[part].content) not_carried(to, from[part]);
          need(from[part], user, time, "is handed on");
          continue;
        }
        need(from[part], user, time, "is handed on");
        hand_on(from[part], index_.value_at(to), to, contents[part]);
      }
    };
    const HloPosition user{c, i, 0};
    hand_over(given, of_condition, user, index_.time(condition, 0));
    run_condition(condition, inside(of_condition));
    check_same_places(of_condition, of_body, carried);
    const HeldParts parameters = inside(of_body);
    const HeldParts returned = run_computation(body, std::span(&parameters, 1));
    hand_over(returned, of_body, {body, index_.computation(body).root, 0}, index_.end_time(body));
    run_condition(condition, inside(of_condition));
    check_same_places(of_condition, user, carried);
    return inside(user);
  }

  void run_condition(std::size_t c, const HeldParts& parameter) {
    const HeldParts decision = run_computation(c, std::span(&parameter, 1));
    need(decision[0], {c, index_.computation(c).root, 0}, index_.end_time(c), "decides");
  }

  void check_same_places(HloPosition a, HloPosition b, const std::vector<bool>& carried) {
    for (std::size_t part = 0; part < carried.size(); ++part) {
      if (!carried[part]) continue;
      a.part = b.part = part;
      hand_on({0, index_.value_at(a)}, index_.value_at(b), b, std::nullopt);
    }
  }

  HeldParts run_conditional(std::size_t c, std::size_t i, const std::vector<HeldParts>& all) {
    const HloInstruction& one = index_.computation(c).instructions[i];
    read(all[one.operands[0]][0], {c, i, 0});
    const std::vector<ContentMap> before = memory_;
    std::vector<ContentMap> after;
    HeldParts result;
    for (std::size_t branch = 0; branch < one.calls.size(); ++branch) {
      memory_ = before;
      const HeldParts& parameter = all[one.operands[branch + 1]];
      const std::size_t called = one.calls[branch].computation;
      const HeldParts returned = run_computation(called, std::span(&parameter, 1));
      for (std::size_t part = 0; part < returned.size(); ++part) {
        need(returned[part], {called, index_.computation(called).root, part},
             index_.end_time(called), "is handed on");
      }
      // All branches write one content, in one place.
      if (branch == 0) {
        result = carried_to(c, i, returned, true);
      } else {
        for (std::size_t part = 0; part < returned.size(); ++part) {
          const HloPosition to{c, i, part};
          if (index_.value_at(to) != kNoHloValue) {
            hand_on(returned[part], index_.value_at(to), to, result[part].content);
          } else if (returned[part].content != result[part].content) {
            not_carried(to, returned[part]);
          }
        }
      }
      if (branch == 0) {
        after = memory_;
      } else {
        for (std::size_t a = 0; a < after.size(); ++a) after[a].merge(memory_[a]);
      }
    }
    memory_ = std::move(after);
    return result;
  }

  // What a callee returns, at the caller's position: under a value of the caller's, in the same
  // bytes, or as it is.
  HeldParts carried_to(std::size_t c, std::size_t i, HeldParts parts, bool fresh) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const HloPosition to{c, i, part};
      const std::size_t value = index_.value_at(to);
      if (value == kNoHloValue) continue;
      const Writer content = fresh ? next_content(value) : parts[part].content;
      hand_on(parts[part], value, to, content);
      parts[part] = {content, value};
    }
    return parts;
  }

  // The place of `to` is that of `held`; then its bytes hold `content`.
  void hand_on(const Held& held, std::size_t to, const HloPosition& at,
               std::optional<Writer> content) {
    if (to == kNoHloValue) {
      if (is_missing(at)) without_place(at, at);
      return;
    }
    if (held.value != kNoHloValue && !same_place(held.value, to)) {
      add("V4.wrong-operand",
          index_.placed(to) + " takes over " + index_.placed(held.value) +
              ", and does not lie in the same bytes",
          to, held.value);
    }
    if (content) write(to, *content);
  }

  void not_carried(const HloPosition& to, const Held& held) {
    const std::string what =
        held.value == kNoHloValue ? std::string("another value") : index_.placed(held.value);
    add("V4.wrong-operand", index_.name(to) + " becomes " + what + ", and has no place for it",
        held.value);
  }

  // A value that a position needs, and that the assignment lacks, once.
  bool is_missing(const HloPosition& at) { return missing_.insert(at).second; }
  void without_place(const HloPosition& at, const HloPosition& user) {
    Finding finding{.rule = "V1.unwritten-read",
                    .message = index_.name(user) + " needs " + index_.name(at) +
                               ", which has no place in any allocation",
                    .nodes = {index_.at(user).name}};
    out_.push_back(std::move(finding));
  }
  std::size_t place_of(const HloPosition& at) {
    const std::size_t value = index_.value_at(at);
    if (value == kNoHloValue && is_missing(at)) without_place(at, at);
    return value;
  }

  HeldParts make_all(std::size_t c, std::size_t i) {
    HeldParts parts;
    const auto& shape = index_.computation(c).instructions[i].shape;
    for (std::size_t part = 0; part < shape.parts.size(); ++part)
      parts.push_back(make({c, i, part}));
    return parts;
  }

  // A new content in the place of the position's value.
  Held make(const HloPosition& at) {
    const std::size_t value = place_of(at);
    const Held held{next_content(value), value};
    if (value == kNoHloValue) return held;
    check_kept(value);
    write(value, held.content);
    return held;
  }

  void check_kept(std::size_t value) {
    const HloValue& placed = plan_.values[value];
    const auto& allocation = plan_.allocations[placed.allocation];
    if (!allocation.parameter || donated_.contains(placed.allocation)) return;
    const HloInstruction& by = index_.at(placed.position);
    if (by.opcode == "parameter" && placed.position.computation == plan_.module.entry) return;
    add("V3.kept-bytes",
        index_.placed(value) + " is written over parameter " +
            std::to_string(*allocation.parameter) + ", which the caller has not given up",
        value);
  }

  Held constant_of(const HloPosition& at) {
    const std::size_t value = place_of(at);
    if (value == kNoHloValue) return {next_content(value), value};
    if (plan_.allocations[plan_.values[value].allocation].is_constant) {
      return {constants_[value], value};
    }
    return make(at);
  }

  void begin_with_constants() {
    constants_.resize(plan_.values.size());
    for (std::size_t value = 0; value < plan_.values.size(); ++value) {
      const bool is_there = plan_.allocations[plan_.values[value].allocation].is_constant &&
                            index_.at(plan_.values[value].position).opcode == "constant";
      if (!is_there) continue;
      constants_[value] = next_content(value);
      write(value, constants_[value]);
    }
  }

  void find_donated() {
    for (std::size_t a = 0; a < plan_.allocations.size(); ++a) {
      const auto& allocation = plan_.allocations[a];
      for (const spec::HloDonation& donation : plan_.module.donations) {
        if (allocation.parameter != static_cast<std::int64_t>(donation.parameter)) continue;
        const HloComputation& entry = index_.computation(plan_.module.entry);
        const auto& shape = entry.instructions[entry.parameters[donation.parameter]].shape;
        if (shape.parts[donation.parameter_part].index == allocation.parameter_index) {
          donated_.insert(a);
        }
      }
    }
  }

  bool has_places(std::size_t c) const {
    const auto& all = index_.computation(c).instructions;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t part = 0; part < all[i].shape.parts.size(); ++part) {
        if (index_.value_at({c, i, part}) != kNoHloValue) return true;
      }
    }
    return false;
  }

  void read(const Held& held, const HloPosition& user) {
    expect(held, user, index_.time(user.computation, user.instruction), "", false);
  }
  void need(const Held& held, const HloPosition& user, std::int64_t time, const char* why) {
    expect(held, user, time, why, true);
  }

  // The bytes of the value hold its content.
  void expect(const Held& held, const HloPosition& user, std::int64_t time, const char* why,
              bool handed_on) {
    if (held.value == kNoHloValue) return;
    HloUse& use = uses_[held.value];
    if (time > use.time) use = {time, user, handed_on};
    const HloValue& value = plan_.values[held.value];
    const ByteSet bytes = bytes_of(held.value);
    if (bytes.empty()) return;
    for (const Content& found : memory_[value.allocation].read(bytes)) {
      if (!found.may && found.writers == Writers{held.content}) continue;
      std::size_t other = kNoHloValue;
      for (const Writer writer : found.writers) {
        if (writer != held.content && made_[writer] != held.value) other = made_[writer];
      }
      const std::string range = "bytes [" + std::to_string(found.range.begin_bytes) + ", " +
                                std::to_string(found.range.end_bytes) + ")";
      const std::string end = *why == '\0' ? index_.name(user) + " reads it"
                                           : "it " + std::string(why) + " by " + index_.name(user);
      if (found.writers.empty()) {
        add("V1.unwritten-read",
            index_.placed(held.value) + ": " + end + ", and nobody has written " + range,
            held.value);
      } else if (other == kNoHloValue) {
        add("V3.overlap",
            index_.placed(held.value) + ": " + end + ", and " + range +
                " hold what it was in another iteration or branch",
            held.value);
      } else {
        add("V3.overlap",
            index_.placed(other) + " overwrites " + range + " of " + index_.placed(held.value) +
                " before " + end,
            held.value, other, value.allocation, found.range);
      }
      return;
    }
  }

  // A place that is not inside of its allocation is another rule's; no byte of it is known here.
  ByteSet bytes_of(std::size_t value) const {
    const HloValue& one = plan_.values[value];
    const std::int64_t size = plan_.allocations[one.allocation].size_bytes;
    if (one.size_bytes > size || one.offset_bytes > size - one.size_bytes) return {};
    return verify::bytes_of(one.offset_bytes, one.offset_bytes + one.size_bytes);
  }
  void write(std::size_t value, Writer content) {
    const ByteSet bytes = bytes_of(value);
    if (!bytes.empty()) memory_[plan_.values[value].allocation].write(bytes, content);
  }

  bool same_place(std::size_t a, std::size_t b) const {
    const HloValue& x = plan_.values[a];
    const HloValue& y = plan_.values[b];
    return x.size_bytes == 0 || (x.allocation == y.allocation && x.offset_bytes == y.offset_bytes &&
                                 x.size_bytes == y.size_bytes);
  }
  bool share_bytes(std::size_t a, std::size_t b) const {
    return plan_.values[a].allocation == plan_.values[b].allocation &&
           first_common(bytes_of(a), 0, bytes_of(b), 0).has_value();
  }

  Writer next_content(std::size_t value) {
    made_.push_back(value);
    return static_cast<Writer>(made_.size() - 1);
  }

  // Each pair of values once for a rule.
  void add(const char* rule, std::string message, std::size_t value,
           std::size_t other = kNoHloValue, std::size_t allocation = 0, ByteRange range = {}) {
    if (!told_.emplace(rule, value, other).second) return;
    Finding finding{.rule = rule, .message = std::move(message)};
    for (const std::size_t one : {value, other}) {
      if (one == kNoHloValue) continue;
      const HloPosition& at = plan_.values[one].position;
      finding.nodes.push_back(index_.at(at).name);
      finding.buffers.push_back(index_.name(at));
    }
    if (range.begin_bytes < range.end_bytes) {
      finding.ranges.push_back(
          {"allocation " + std::to_string(allocation), range.begin_bytes, range.end_bytes});
    }
    out_.push_back(std::move(finding));
  }

  const HloIndex& index_;
  const spec::HloPlan& plan_;
  std::vector<Finding>& out_;
  std::vector<ContentMap> memory_;  // by allocation
  std::vector<HloUse> uses_;        // by value
  std::vector<std::size_t> made_;   // by content: the value in whose place it was put
  std::vector<Writer> constants_;   // by value
  std::set<std::size_t> donated_;   // allocations of parameters that the caller gives up
  std::set<HloPosition> missing_;
  std::set<std::tuple<std::string, std::size_t, std::size_t>> told_;
};

// How many instructions a walk over each computation runs through.
Result<void> check_steps(const HloIndex& index) {
  std::vector<std::int64_t> steps(index.plan().module.computations.size());
  for (std::size_t c = 0; c < steps.size(); ++c) {
    for (const HloInstruction& one : index.computation(c).instructions) {
      std::int64_t all = 1;
      for (const HloCall& call : one.calls) {
        if (call.role == HloCallRole::kInside) continue;
        all += steps[call.computation] * (call.role == HloCallRole::kCondition ? 2 : 1);
      }
      steps[c] = std::min(kStepsMax + 1, steps[c] + std::min(kStepsMax, all));
    }
  }
  if (steps[index.plan().module.entry] <= kStepsMax) return {};
  return unsupported("loops in conditions of loops, so deep that they take more than " +
                     std::to_string(kStepsMax) + " steps to follow");
}

}  // namespace

Result<std::vector<HloUse>> walk_hlo(const HloIndex& index, std::vector<Finding>& out) {
  GRAPHGATE_TRY_VOID(check_steps(index));
  return Walk(index, out).run();
}

}  // namespace graphgate::verify
