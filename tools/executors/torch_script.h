// A case as a script for Python that needs PyTorch alone: its programs, its calls, and what each
// call must give, so that who has never heard of graphgate sees the difference.
#pragma once

#include <string>

#include "base/result.h"
#include "spec/case_file.h"

namespace graphgate::tools {

// What a script says of itself beside the case.
struct TorchScriptWords {
  std::string signature;  // of the finding; may be empty
  std::string origin;     // a line of sh that shows it with graphgate; may be empty
};

// Returns the text of the script. It runs the case's calls in eager mode and under torch.compile,
// and holds both to the reference's values, radii, layouts and sharing. It ends with status 1 where
// one of them differs, 0 where none does. `folder_of` is the path of the file that the case is
// from: its own files lie beside. kUnsupported, with the reason, where PyTorch has no way to say
// what the case says: ops of other packages, restarts, devices other than the host.
[[nodiscard]] Result<std::string> print_torch_script(const spec::CaseFile& the_case,
                                                     const std::string& folder_of,
                                                     const TorchScriptWords& words);

}  // namespace graphgate::tools
