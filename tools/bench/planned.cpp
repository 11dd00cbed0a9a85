#include "tools/bench/planned.h"

#include "optimized/analysis/symbols.h"

namespace graphgate::tools {

using optimized::OnDevice;

Result<spec::Plan> plan_of(const spec::Program& program, const optimized::CompileOptions& options) {
  GRAPHGATE_TRY(const spec::Graph prepared, prepare(program, options));
  GRAPHGATE_TRY(const auto symbols, optimized::bind_symbols(program, {}, false));
  return compile(program, prepared, {}, symbols, options);
}

Result<std::vector<const OnDevice::Unit*>> units_of(const optimized::HostProgram& program) {
  std::vector<const OnDevice::Unit*> units;
  const auto add = [&](const OnDevice::Unit& unit) {
    if (unit.run) units.push_back(&unit);
    return unit.run != nullptr;
  };
  const auto& partitions = program.plan().blocks.front().partitions;
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    bool is_there = true;
    if (partitions[p].captured) {
      is_there = add(program.on_device()->partitions().front()[p]);
    } else {
      for (std::uint32_t s = partitions[p].begin_step; s < partitions[p].end_step; ++s) {
        is_there &= add(program.on_device()->steps()[s]);
      }
    }
    if (!is_there) {
      return Error{ErrorKind::kInternal, "partition " + std::to_string(p) + " ran on the host"};
    }
  }
  return units;
}

}  // namespace graphgate::tools
