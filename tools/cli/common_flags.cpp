#include "tools/cli/common_flags.h"

#include "tools/cli/option_types.h"

namespace graphgate::tools {

void add_program_options(CLI::App& app, ProgramOptions& options) {
  app.add_option("files", options.files, "torch.export archives (.pt2), or graph text")
      ->type_name(takes::kFile)
      ->required();
  app.add_option("--data", options.data,
                 "recorded calls, a .safetensors with a .geometry.json beside it "
                 "(default: NAME.safetensors beside NAME.pt2)")
      ->type_name(takes::kFile);
  app.add_option("--custom-ops", options.custom_ops,
                 "a file of op schemas to add to the op table (repeatable)")
      ->type_name(takes::kFile);
}

}  // namespace graphgate::tools
