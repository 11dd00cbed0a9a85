#include "tools/cli/option_types.h"

#include <algorithm>

namespace graphgate::tools {
namespace {

bool is_path(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  constexpr const char* kPaths[] = {takes::kFile,         takes::kOutput,        takes::kFolder,
                                    takes::kOutputFolder, takes::kOverridesFile, takes::kCase};
  return std::any_of(std::begin(kPaths), std::end(kPaths),
                     [&](const char* path) { return name == path; });
}

}  // namespace

void refuse_empty_paths(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](CLI::Option* each) { return is_path(*each); })) {
    option->check([](const std::string& path) {
      return path.empty() ? std::string("expected a path, found an empty one") : std::string();
    });
  }
  for (CLI::App* verb : app.get_subcommands({})) refuse_empty_paths(*verb);
}

}  // namespace graphgate::tools
