// Golden texts that are not one program's record: each made whole from what programs came to, or
// from tables.
//
//   effects/aten.txt     what every builtin op does to memory, as its schema tells
//   quality.txt          what the plans of the golden models cost
//   kernels/NAME.cu      the CUDA text of models/NAME.pt2
//   rules/findings.txt   what the plan verifier says of plans/bad/*.plan
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/golden/record_program.h"

namespace graphgate::tools {

using RecordedPrograms = std::map<std::string, RecordedProgram>;  // by path

[[nodiscard]] bool is_whole_text(const std::string& path);

// The programs of the list that a text is made from.
[[nodiscard]] std::vector<GoldenProgram> programs_of_text(const std::string& path,
                                                          const GoldenList& list);

// `recorded` has programs_of_text. kBadInput where a file that it is made from cannot be read.
[[nodiscard]] Result<std::string> make_whole_text(const std::string& path, const GoldenList& list,
                                                  const RecordedPrograms& recorded);

}  // namespace graphgate::tools
