// An environment with PyTorch as an executor: its interpreter runs the adapter
// tools/adapters/torch.
#pragma once

#include "tools/executors/subject.h"

namespace graphgate::tools {

// The command that serves "PATH" or "PATH:BACKEND": a virtual environment's folder, or an
// interpreter. `adapter` is the folder that has the package graphgate_torch; it is used where the
// interpreter does not find one of its own, and may be empty. kBadInput for a form without a path.
[[nodiscard]] Result<std::string> python_command(std::string path, const std::string& adapter);

// The adapter's folder beside this program: of an installation, or of a build below the sources;
// empty where there is none.
[[nodiscard]] std::string torch_adapter_folder();

// The process of that command, with that folder.
[[nodiscard]] MadeSubject python_subject(const std::string& path, const SubjectSettings& settings);

}  // namespace graphgate::tools
