#include "tools/report/plan_words.h"

#include "base/formatted.h"
#include "spec/plan_drawing.h"
#include "tools/report/escape.h"

namespace graphgate::tools {
namespace {

constexpr std::size_t kListed = 8;  // names in a line before "and N more"

std::string join(const std::vector<std::string>& names) {
  std::string line;
  for (std::size_t i = 0; i < names.size() && i < kListed; ++i) {
    line += (i == 0 ? "" : ", ") + plain_name(names[i]);
  }
  if (names.size() > kListed) line += " and " + std::to_string(names.size() - kListed) + " more";
  return line;
}

std::string buffer_name(const spec::Plan& plan, spec::BufferId id) {
  return "$" + plan.buffers[id.index].name;
}

void add_line(std::string& page, const std::string& word, const std::vector<std::string>& names) {
  if (!names.empty()) page += "    " + word + join(names) + "\n";
}

void add_signature(std::string& page, const spec::Plan& plan,
                   const spec::PlanSignature& signature) {
  const auto names_of = [&](const std::vector<spec::BufferId>& ids) {
    std::vector<std::string> names;
    names.reserve(ids.size());
    for (const spec::BufferId id : ids) names.push_back(buffer_name(plan, id));
    return names;
  };
  std::vector<std::string> inputs;
  std::vector<std::string> freed;
  for (const spec::SignatureInput& input : signature.inputs) {
    (input.deallocate ? freed : inputs).push_back(buffer_name(plan, input.buffer));
  }
  add_line(page, "in        ", inputs);
  add_line(page, "in, freed ", freed);
  add_line(page, "out       ", names_of(signature.outputs));
  add_line(page, "constants ", names_of(signature.constants));
  add_line(page, "symbols   ", signature.symbols);
}

void add_block(std::string& page, const spec::Plan& plan, const spec::PlanBlock& block) {
  page += "block @" + plain_name(block.name) + "\n";
  for (std::size_t p = 0; p < block.partitions.size(); ++p) {
    const spec::PlanPartition& partition = block.partitions[p];
    const std::uint32_t count = partition.end_step - partition.begin_step;
    page += "  partition " + std::to_string(p) + (partition.captured ? " captured" : " eager") +
            ", " + std::to_string(count) + (count == 1 ? " step" : " steps");
    if (count > 0) {
      page += ": '" + plain_name(plan.steps[partition.begin_step].node.name) + "'";
      if (count > 1)
        page += " to '" + plain_name(plan.steps[partition.end_step - 1].node.name) + "'";
    }
    if (!partition.reason.empty()) page += "; " + plain_text(partition.reason);
    page += '\n';
    for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
      const spec::PlanStep& step = plan.steps[s];
      std::vector<std::string> names;
      names.reserve(step.body.size());
      for (const spec::Node& node : step.body) names.push_back("'" + node.name + "'");
      add_line(page, "fused '" + plain_name(step.node.name) + "': ", names);
    }
    add_signature(page, plan, partition.signature);
  }
}

}  // namespace

std::string print_bytes(std::int64_t bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " B";
  const double kibibytes = static_cast<double>(bytes) / 1024;
  return bytes < 10'000'000 ? formatted("%.1f KiB", kibibytes)
                            : formatted("%.1f MiB", kibibytes / 1024);
}

std::string describe_plan(const conformance::PlanStats& plan) {
  const double captured = plan.steps == 0 ? 0
                                          : 100 * static_cast<double>(plan.captured_steps) /
                                                static_cast<double>(plan.steps);
  return formatted("%.1f%%", captured) + " of " + std::to_string(plan.steps) +
         " steps captured in " + std::to_string(plan.captured_partitions) + " of " +
         std::to_string(plan.partitions) + (plan.partitions == 1 ? " partition" : " partitions") +
         ", peak " + print_bytes(plan.peak_bytes) + " (no reuse " +
         print_bytes(plan.no_reuse_bytes) + ", bound " + print_bytes(plan.lower_bound_bytes) + ")";
}

std::string summarize_plan(const spec::Plan& plan) {
  std::string page = "plan \"" + plain_name(plan.name) + "\", " + plan.arithmetic;
  for (const auto& [symbol, value] : plan.symbols) {
    page += ", " + symbol + " = " + std::to_string(value);
  }
  page += "\n" + describe_plan(conformance::plan_stats(plan)) + "\n\n";
  for (const spec::PlanBlock& block : plan.blocks) add_block(page, plan, block);
  for (std::uint32_t pool = 0; pool < plan.pools.size(); ++pool) {
    const bool is_arena = plan.pools[pool].kind == spec::PoolKind::kArena;
    if (is_arena) page += "\n" + spec::draw_pool(plan, {pool});
  }
  return page;
}

}  // namespace graphgate::tools
