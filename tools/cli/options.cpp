#include "tools/cli/option_types.h"
#include "tools/cli/verbs.h"
#include "tools/store/programs.h"

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

Result<spec::OpTable> load_op_table(const std::vector<std::string>& custom_ops) {
  spec::OpTable ops = spec::builtin_op_table();
  for (const std::string& path : custom_ops) {
    GRAPHGATE_TRY(const std::string text, read_text(path));
    GRAPHGATE_TRY_VOID(ops.add_text(text, path));
  }
  return ops;
}

}  // namespace graphgate::tools
