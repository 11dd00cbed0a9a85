// graphgate completion: a script that completes the command line in a shell.
#include <algorithm>
#include <memory>

#include "base/atomic_file.h"
#include "tools/cli/command_table.h"
#include "tools/cli/completions.h"
#include "tools/cli/flags.h"
#include "tools/cli/verb.h"

namespace graphgate::tools {
namespace {

struct CompletionVerb {
  const CLI::App* program = nullptr;
  std::string shell;
  std::string output = "-";
};

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const CompletionShell& shell : completion_shells()) names.emplace_back(shell.name);
  return names;
}

Result<ExitCode> run_completion(const CompletionVerb& verb) {
  const auto shells = completion_shells();
  const auto shell = std::find_if(shells.begin(), shells.end(), [&](const CompletionShell& one) {
    return one.name == verb.shell;
  });
  GRAPHGATE_TRY_VOID(write_text(shell->script(command_table(*verb.program)), verb.output));
  return ExitCode::kGood;
}

}  // namespace

Verb add_completion(CLI::App& app) {
  const auto owned = std::make_shared<CompletionVerb>();
  CompletionVerb& verb = *owned;
  verb.program = &app;
  CLI::App* completion = app.add_subcommand(
      "completion", "write a script that completes graphgate's command line in a shell");
  completion->add_option("shell", verb.shell, "the shell")
      ->check(CLI::IsMember(shell_names()))
      ->required();
  completion->add_option("-o,--output", verb.output, "where to write (- for standard output)")
      ->type_name(takes::kOutput)
      ->capture_default_str();
  completion->footer(
      "Examples:\n  graphgate completion bash -o graphgate.bash\n"
      "  graphgate completion zsh -o _graphgate\n"
      "  graphgate completion fish -o graphgate.fish\n\n"
      "bash and zsh read the script with `source`; fish takes it in its folder of completions, and "
      "zsh in a folder of fpath. An installed graphgate has put them where the shells look.");
  return {completion, [owned](const auto& /*words*/) { return run_completion(*owned); }};
}

}  // namespace graphgate::tools
