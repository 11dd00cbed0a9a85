#include "tools/cli/fine_options.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "conformance/mutations/plan_mutations.h"
#include "tools/cli/option_types.h"

namespace graphgate::tools {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<optimized::SizeRange> read_range(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) {
    const auto begin = whole_number(std::string_view(text).substr(0, colon));
    const auto end = whole_number(std::string_view(text).substr(colon + 1));
    if (begin && end) return optimized::SizeRange{*begin, *end};
  }
  return bad_input("--compile-range: expected BEGIN:END, found '" + text + "'");
}

void add_repeatable(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                    const char* type, const std::string& what, const std::string& group) {
  app.add_option(name, target, what + " (repeatable)")
      ->type_name(type)
      ->allow_extra_args(false)
      ->group(group);
}

Result<void> choose_mutation(const std::string& text, optimized::Options& options) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  std::uint64_t seed = 1;
  if (colon != std::string::npos) {
    const auto number = whole_number(std::string_view(text).substr(colon + 1));
    if (!number || *number < 0) {
      return bad_input("--plan-mutation: expected NAME:SEED, found '" + text + "'");
    }
    seed = static_cast<std::uint64_t>(*number);
  }
  const auto all = conformance::plan_mutations();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& m) { return m.name == name; });
  if (found == all.end()) {
    return bad_input("--plan-mutation: none is called '" + name + "' (see docs/mutants.md)");
  }
  options.alter_plan = [&mutation = *found, seed](spec::Plan& plan) {
    (void)conformance::apply_mutation(mutation, plan, seed);
  };
  return {};
}

}  // namespace

void add_fine_flags(CLI::App& app, FineFlags& flags, const std::string& group) {
  app.add_option("--warm-up", flags.warm_up_runs, "runs before a plan's first one, undone again")
      ->group(group);
  app.add_option("--plans-kept", flags.plans_kept, "plans kept for one program")
      ->check(CLI::Range(1, 1'000'000))
      ->group(group);
  add_repeatable(app, "--compile-range", flags.compile_ranges, "BEGIN:END",
                 "compile the sizes BEGIN:END, END excluded, apart", group);
  app.add_option("--size-multiple", flags.size_multiple, "round sizes up to multiples of this")
      ->check(CLI::Range(1, 1'000'000))
      ->group(group);
  app.add_option("--place-alignment", flags.alignment_bytes, "of every place in memory, in bytes")
      ->check(CLI::IsMember({16, 32, 64, 128, 256, 512, 1024}))
      ->group(group);
  add_repeatable(app, "--unaligned-op", flags.unaligned_ops, takes::kName,
                 "an op whose results nobody promises to align", group);
  add_repeatable(app, "--unsafe-unbacked-op", flags.unsafe_unbacked_ops, takes::kName,
                 "cut out what uses a size that this op made", group);
  app.add_flag("--skip-dynamic-graphs", flags.skip_dynamic_graphs, "cut out what hangs on a symbol")
      ->group(group);
  app.add_flag("!--no-recompute", flags.recompute, "compute no shared value twice")->group(group);
  app.add_option(
         "--plan-mutation", flags.plan_mutation,
         "break every plan in one place, to test judges: NAME or NAME:SEED (docs/mutants.md)")
      ->type_name(takes::kName)
      ->group(group);
  add_repeatable(app, "--cache-env", flags.cache_environment, "NAME=VALUE",
                 "NAME=VALUE for the cache's key, over the environment", group);
  app.add_option("--cache-rank", flags.cache_rank, "this process's rank")->group(group);
}

Result<void> choose_fine(const FineFlags& flags, optimized::Options& options) {
  if (!flags.plan_mutation.empty()) {
    GRAPHGATE_TRY_VOID(choose_mutation(flags.plan_mutation, options));
  }
  options.runtime.warm_up_runs = flags.warm_up_runs;
  if (flags.plans_kept > 0) options.plans_kept = flags.plans_kept;
  for (const std::string& text : flags.compile_ranges) {
    GRAPHGATE_TRY(const optimized::SizeRange range, read_range(text));
    options.runtime.compile_ranges.push_back(range);
  }
  if (flags.size_multiple > 0) options.runtime.size_multiple = flags.size_multiple;
  auto& memory = options.compile.memory;
  if (flags.alignment_bytes > 0) memory.alignment_bytes = flags.alignment_bytes;
  memory.unaligned_ops.insert(memory.unaligned_ops.end(), flags.unaligned_ops.begin(),
                              flags.unaligned_ops.end());
  auto& partition = options.compile.partition;
  partition.unsafe_unbacked_ops.insert(partition.unsafe_unbacked_ops.end(),
                                       flags.unsafe_unbacked_ops.begin(),
                                       flags.unsafe_unbacked_ops.end());
  if (flags.skip_dynamic_graphs) partition.skip_dynamic_graphs = true;
  if (!flags.recompute) options.compile.compiler.realize.recompute = false;
  return {};
}

Result<void> choose_fine(const FineFlags& flags, optimized::KeyContext& context) {
  for (const std::string& text : flags.cache_environment) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return bad_input("--cache-env: expected NAME=VALUE, found '" + text + "'");
    }
    context.environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  context.rank = flags.cache_rank;
  return {};
}

}  // namespace graphgate::tools
