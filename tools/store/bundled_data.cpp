#include "tools/store/bundled_data.h"

namespace graphgate::tools {
namespace {

namespace fs = std::filesystem;

// Of the running process; empty where the system does not tell.
fs::path own_program() {
  std::error_code failed;
  fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::path() : program;
}

// `installed` is below PREFIX/share/graphgate, `source` below the sources.
std::string find_beside(const fs::path& program, const char* installed, const char* source) {
  if (program.empty()) return "";
  const fs::path folder = program.parent_path();
  for (const fs::path& found :
       {folder / "../share/graphgate" / installed, folder / "../.." / source}) {
    std::error_code failed;
    if (fs::is_directory(found, failed)) return found.lexically_normal().string();
  }
  return "";
}

}  // namespace

std::string bundled_corpus_of(const fs::path& program) {
  return find_beside(program, "golden", "golden");
}

std::string bundled_adapters_of(const fs::path& program) {
  return find_beside(program, "adapters", "tools/adapters");
}

std::string bundled_corpus() { return bundled_corpus_of(own_program()); }

std::string bundled_adapters() { return bundled_adapters_of(own_program()); }

Result<std::string> usual_corpus(const std::string& path, const std::string& instead) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) return path;
  const std::string corpus = bundled_corpus();
  if (!corpus.empty()) {
    const fs::path bundled = corpus / fs::path(path).lexically_relative("golden");
    if (fs::is_directory(bundled, failed)) return bundled.lexically_normal().string();
  }
  return bad_input(path +
                   ": neither the current folder has it nor the corpus that comes with the " +
                   "program; " + instead);
}

}  // namespace graphgate::tools
