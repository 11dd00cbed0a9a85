#include "tools/cli/report_options.h"

#include "tools/cli/option_types.h"

namespace graphgate::tools {

void add_report_options(CLI::App& app, ReportPaths& paths, const std::string& what) {
  for (const ReportForm& form : report_forms()) {
    std::string help = form.help;
    const std::size_t star = help.find('*');
    if (star != std::string::npos) help.replace(star, 1, what);
    app.add_option(std::string("--") + form.name, paths[form.name], help)
        ->type_name(takes::kOutput);
  }
}

Result<void> check_report_paths(const ReportPaths& paths) {
  if (to_stdout(paths) > 1) return bad_input("only one report can go to standard output");
  return {};
}

}  // namespace graphgate::tools
