// Where values lie, how long XLA holds them, and the files that say so.
#include "interop/xla_dump.h"

#include <set>

#include "base/file_io.h"
#include "base/one_line.h"
#include "interop/xla_text.h"

namespace graphgate::interop {
namespace {

using spec::HloAllocation;
using spec::HloPlan;
using spec::HloPosition;
using spec::HloValue;

constexpr std::string_view kAssignmentEnd = "-buffer-assignment.txt";
constexpr std::string_view kLiveRangeEnd = "-live-range.txt";

// A "|shape|" off the front.
bool take_shape_between_bars(std::string_view& text) {
  if (!take(text, "|")) return false;
  const std::size_t end = text.find('|');
  if (end == std::string_view::npos) return false;
  text.remove_prefix(end + 1);
  return true;
}

// One of what stands behind an allocation's size; false where it is none.
bool take_trait(std::string_view& text, HloAllocation& allocation) {
  if (take(text, "parameter ")) {
    allocation.parameter = take_number(text);
    if (!allocation.parameter || !take(text, ", shape ") || !take_shape_between_bars(text) ||
        !take(text, " at ShapeIndex ")) {
      return false;
    }
    allocation.parameter_index = take_shape_index(text);
    return !allocation.parameter_index.empty();
  }
  if (take(text, "output shape is ")) return take_shape_between_bars(text);
  if (take(text, "constant")) return allocation.is_constant = true;
  if (take(text, "thread-local")) return allocation.is_thread_local = true;
  if (take(text, "maybe-live-out")) return allocation.maybe_live_out = true;
  if (take(text, "preallocated-temp")) return true;
  return false;
}

// "allocation 4: size 24, output shape is |(f32[8])|, maybe-live-out:"
Result<HloAllocation> read_allocation(const XlaLines& lines, std::size_t number) {
  std::string_view text = lines.line();
  HloAllocation allocation;
  const std::string begin = "allocation " + std::to_string(number) + ": size ";
  if (!take(text, begin)) return lines.expected(begin + "BYTES");
  const auto size = take_number(text);
  if (!size) return lines.expected(begin + "BYTES");
  allocation.size_bytes = *size;
  while (text != ":") {
    std::string_view rest = text;
    if (take(rest, ", color ")) return lines.at_line(unsupported("a second memory space"));
    if (!take(rest, ", ") || !take_trait(rest, allocation)) {
      return lines.expected("an allocation's traits, and : at the end");
    }
    text = rest;
  }
  return allocation;
}

// A name with the index of a part: "while.10{0}", and in an assignment "add.2" for "add.2{}".
Result<HloPosition> take_position(std::string_view& text, const HloNames& names,
                                  const spec::HloModule& module) {
  const std::string_view name = take_name(text);
  const auto found = names.find(name);
  if (found == names.end()) {
    return bad_input("expected an instruction of the module, found " + in_quotes(name));
  }
  const std::string index = text.starts_with("{") ? take_shape_index(text) : "{}";
  const auto part = part_of(instruction_at(module, found->second).shape, index);
  if (!part) {
    return bad_input(in_quotes(name) + " has no part " + one_line(index));
  }
  HloPosition position = found->second;
  position.part = *part;
  return position;
}

// " value: <60 wrapped_add @0> (size=4,offset=0): s32[]", " value: <97 while.10{} (phi) @0> ..."
Result<HloValue> read_value(const XlaLines& lines, const HloNames& names,
                            const spec::HloModule& module) {
  std::string_view text = lines.line();
  HloValue value;
  value.line = lines.number();
  const auto wrong = [&] { return lines.expected("value: <ID NAME @0> (size=N,offset=N): SHAPE"); };
  if (!take(text, " value: <") || !take_number(text) || !take(text, " ")) return wrong();
  auto position = take_position(text, names, module);
  if (!position.ok()) return lines.at_line(position.error());
  value.position = position.value();
  take(text, " (phi)");
  if (!take(text, " @") || !take_number(text) || !take(text, "> (size=")) return wrong();
  const auto size = take_number(text);
  if (!size || !take(text, ",offset=")) return wrong();
  const auto offset = take_number(text);
  if (!offset || !take(text, "): ")) return wrong();
  value.size_bytes = *size;
  value.offset_bytes = *offset;
  value.shape = text;
  return value;
}

std::string name_of(const spec::HloModule& module, const HloPosition& position) {
  const auto& instruction = instruction_at(module, position);
  return instruction.name + instruction.shape.parts[position.part].index;
}

}  // namespace

Result<void> parse_buffer_assignment(std::string_view text, std::string_view name, HloPlan& plan) {
  const HloNames names = names_of(plan.module);
  std::set<HloPosition> seen;
  XlaLines lines(text, name);
  if (!lines.next() || lines.line() != "BufferAssignment:") {
    return lines.expected("BufferAssignment:");
  }
  while (lines.next()) {
    if (lines.line().empty()) continue;
    if (!lines.line().starts_with(" ")) {
      GRAPHGATE_TRY(HloAllocation allocation, read_allocation(lines, plan.allocations.size()));
      plan.allocations.push_back(std::move(allocation));
      continue;
    }
    if (plan.allocations.empty()) return lines.expected("an allocation");
    GRAPHGATE_TRY(HloValue value, read_value(lines, names, plan.module));
    if (!seen.insert(value.position).second) {
      return lines.at_line(
          bad_input("value " + in_quotes(name_of(plan.module, value.position)) + " stands twice"));
    }
    value.allocation = plan.allocations.size() - 1;
    plan.values.push_back(std::move(value));
  }
  return {};
}

Result<void> parse_live_ranges(std::string_view text, std::string_view name, HloPlan& plan) {
  const HloNames names = names_of(plan.module);
  spec::HloLiveRanges out;
  std::set<HloPosition> seen;
  XlaLines lines(text, name);
  if (!lines.next() || !lines.line().starts_with("HloLiveRange (max ")) {
    return lines.expected("HloLiveRange (max TIME):");
  }
  if (!lines.next() || lines.line() != "  InstructionSequence:") {
    return lines.expected("InstructionSequence:");
  }
  bool more = lines.next();
  for (; more && lines.line().starts_with("    "); more = lines.next()) {
    std::string_view line = lines.line().substr(4);
    const auto time = take_number(line);
    if (!time || *time != static_cast<std::int64_t>(out.sequence.size()) || !take(line, ":")) {
      return lines.expected(std::to_string(out.sequence.size()) + ":INSTRUCTION");
    }
    auto position = take_position(line, names, plan.module);
    if (!position.ok()) return lines.at_line(position.error());
    if (!line.empty()) return lines.expected("the name of an instruction");
    out.sequence.push_back(position.value());
  }
  if (!more || lines.line() != "  BufferLiveRange:") return lines.expected("BufferLiveRange:");
  more = lines.next();
  for (; more && lines.line().starts_with("    "); more = lines.next()) {
    std::string_view line = lines.line().substr(4);
    auto position = take_position(line, names, plan.module);
    if (!position.ok()) return lines.at_line(position.error());
    if (!take(line, ":")) return lines.expected("NAME{}:BEGIN-END");
    const auto begin = take_number(line);
    if (!begin || !take(line, "-")) return lines.expected("NAME{}:BEGIN-END");
    const auto end = take_number(line);
    if (!end || !line.empty()) return lines.expected("NAME{}:BEGIN-END");
    if (!seen.insert(position.value()).second) return lines.expected("one range of each value");
    out.ranges.push_back({position.value(), *begin, *end, lines.number()});
  }
  // What is live at the peak follows, for people.
  if (!more || !lines.line().starts_with("  Live ranges at ")) {
    return lines.expected("Live ranges at TIME");
  }
  plan.live_ranges = std::move(out);
  return {};
}

Result<HloPlan> read_xla_dump(const std::string& assignment_path) {
  if (!assignment_path.ends_with(kAssignmentEnd)) {
    return bad_input("expected a path that ends in " + std::string(kAssignmentEnd))
        .at(one_line(assignment_path));
  }
  const std::string stem =
      assignment_path.substr(0, assignment_path.size() - kAssignmentEnd.size());
  GRAPHGATE_TRY(const std::string assignment, read_whole(assignment_path));
  const std::string module_path = stem + ".txt";
  GRAPHGATE_TRY(const bool has_module, is_there(module_path));
  if (!has_module) {
    return bad_input("expected the module beside it, which --xla_dump_hlo_as_text writes, as " +
                     one_line(module_path))
        .at(one_line(assignment_path));
  }
  GRAPHGATE_TRY(const std::string module, read_whole(module_path));
  HloPlan plan;
  GRAPHGATE_TRY(plan.module, parse_hlo(module, module_path));
  GRAPHGATE_TRY_VOID(parse_buffer_assignment(assignment, assignment_path, plan));
  const std::string ranges_path = stem + std::string(kLiveRangeEnd);
  GRAPHGATE_TRY(const bool has_ranges, is_there(ranges_path));
  if (!has_ranges) return plan;
  GRAPHGATE_TRY(const std::string ranges, read_whole(ranges_path));
  GRAPHGATE_TRY_VOID(parse_live_ranges(ranges, ranges_path, plan));
  return plan;
}

}  // namespace graphgate::interop
