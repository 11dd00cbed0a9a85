// Any text as XLA's dumps: what is accepted names only what is there. The three files of a dump
// stand one behind the other, with lines of dashes between; one alone is a module.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interop/xla_dump.h"

namespace {

// Up to the next line of dashes; `text` loses it.
std::string_view take_file(std::string_view& text) {
  constexpr std::string_view kBetween = "\n----\n";
  const std::size_t end = text.find(kBetween);
  const std::string_view file = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + kBetween.size());
  return file;
}

bool is_there(const graphgate::spec::HloModule& module,
              const graphgate::spec::HloPosition& position) {
  const auto& all = module.computations;
  if (position.computation >= all.size()) return false;
  const auto& instructions = all[position.computation].instructions;
  return position.instruction < instructions.size() &&
         position.part < instructions[position.instruction].shape.parts.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphgate;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto module = interop::parse_hlo(take_file(text), "fuzz.txt");
  if (!module.ok()) return 0;
  spec::HloPlan plan;
  plan.module = std::move(module).value();
  for (const auto& computation : plan.module.computations) {
    for (std::size_t i = 0; i < computation.instructions.size(); ++i) {
      for (const std::size_t operand : computation.instructions[i].operands) {
        GRAPHGATE_CHECK(operand < i);
      }
    }
  }
  if (!interop::parse_buffer_assignment(take_file(text), "fuzz-buffer-assignment.txt", plan).ok()) {
    return 0;
  }
  for (const spec::HloValue& value : plan.values) {
    GRAPHGATE_CHECK(is_there(plan.module, value.position));
    GRAPHGATE_CHECK(value.allocation < plan.allocations.size());
  }
  if (!interop::parse_live_ranges(take_file(text), "fuzz-live-range.txt", plan).ok()) return 0;
  for (const auto& range : plan.live_ranges->ranges) {
    GRAPHGATE_CHECK(is_there(plan.module, range.position));
  }
  return 0;
}
