// A case's program as an archive for PyTorch.
#pragma once

#include <string>

#include "base/result.h"
#include "spec/case_file.h"

namespace graphgate::tools {

// The case's one program as an archive for PyTorch, with its tensors drawn and its types stated.
// `folder_of` is the path of the file that it is from: its own files lie beside. kUnsupported where
// the case has several programs, or says what archives cannot.
[[nodiscard]] Result<void> write_case_archive(const spec::CaseFile& the_case,
                                              const std::string& folder_of,
                                              const std::string& path);

}  // namespace graphgate::tools
