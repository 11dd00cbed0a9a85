#include "tools/bench/report.h"

namespace graphgate::tools {

std::FILE* page_of(const BenchOptions& options) { return options.json == "-" ? stderr : stdout; }

void print_ratio(std::FILE* page, const char* what, const Comparison& comparison) {
  std::fprintf(page, "  %-36s %8.3fx  (%.4g s / %.4g s)\n", what, comparison.ratio,
               comparison.first_seconds, comparison.second_seconds);
}

Json json_of(const Comparison& comparison, const char* first, const char* second) {
  return {{"ratio", comparison.ratio},
          {std::string(first) + "_seconds", comparison.first_seconds},
          {std::string(second) + "_seconds", comparison.second_seconds}};
}

}  // namespace graphgate::tools
