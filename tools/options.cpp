#include <fstream>
#include <sstream>

#include "tools/verbs.h"

namespace graphgate::tools {

void add_program_options(CLI::App& app, ProgramOptions& options) {
  app.add_option("files", options.files, "torch.export archives (.pt2), or graph text")->required();
  app.add_option("--data", options.data,
                 "recorded calls, a .safetensors with a .geometry.json beside it "
                 "(default: NAME.safetensors beside NAME.pt2)");
  app.add_option("--custom-ops", options.custom_ops,
                 "a file of op schemas to add to the op table (repeatable)");
}

Result<spec::OpTable> load_op_table(const std::vector<std::string>& custom_ops) {
  spec::OpTable ops = spec::builtin_op_table();
  for (const std::string& path : custom_ops) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return bad_input(path + ": cannot be opened");
    std::stringstream text;
    text << file.rdbuf();
    GRAPHGATE_TRY_VOID(ops.add_text(text.str(), path));
  }
  return ops;
}

}  // namespace graphgate::tools
