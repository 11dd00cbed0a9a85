#include "tools/executors/case_archive.h"

#include "fuzz/reduce/graph_edit.h"
#include "fuzz/reduce/stated_types.h"
#include "interop/pt2_writer.h"
#include "tools/executors/case_sources.h"
#include "tools/store/check_input.h"

namespace graphgate::tools {

Result<void> write_case_archive(const spec::CaseFile& the_case, const std::string& folder_of,
                                const std::string& path) {
  if (the_case.programs.size() != 1) {
    return unsupported("an archive holds one program, the case has " +
                       std::to_string(the_case.programs.size()));
  }
  const auto files = files_beside(folder_of);
  const CaseSources sources(*files);
  spec::CaseFile bare = the_case;
  // Sizes that are numbers can be told anew, strides and all.
  for (spec::Program& program : bare.programs) {
    if (program.symbols.empty()) fuzz::forget_result_types(program.graph);
  }
  const spec::CaseFile typed = fuzz::with_stated_types(bare, sources.get());
  GRAPHGATE_TRY_VOID(spec::check_case(typed));
  GRAPHGATE_TRY(const conformance::Script script, conformance::script_of(typed, *files));
  interop::Pt2Options options;
  options.ops = script.ops.get();
  return interop::write_pt2(*script.programs.front(), path, options);
}

}  // namespace graphgate::tools
