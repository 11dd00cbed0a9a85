// What `graphgate check` was given, as scripts: archives, graph text, case files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/run/script.h"
#include "spec/case_file.h"

namespace graphgate::tools {

struct CheckInput {
  conformance::Script script;
  bool is_case = false;
  bool recorded = false;  // calls come from a recording, not from a seed
};

// Where the calls of a program come from.
struct CallSource {
  std::string data;  // a recording; empty: that beside the program, if there is one
  int calls = 2;     // seeded ones, where there is no recording
  std::uint64_t seed = 1;
};

// Tells by content: a file that is no archive and begins with "graphgate-case" (behind comments) is
// a case; its own files are looked for beside it. kBadInput with the path in front.
[[nodiscard]] Result<CheckInput> read_check_input(const std::string& path, const CallSource& from,
                                                  std::shared_ptr<const spec::OpTable> ops);

// Whether a text is a case: its first word, behind comments, is "graphgate-case".
[[nodiscard]] bool is_case_text(std::string_view text);

// A case's text, parsed and checked.
[[nodiscard]] Result<spec::CaseFile> parse_checked_case(const std::string& text,
                                                        const std::string& path);

// Returns the names of the safetensors files that a case reads, each once, sorted.
[[nodiscard]] std::vector<std::string> tensor_files_of(const spec::CaseFile& the_case);

// The safetensors files that a case at this path names: those in its folder.
[[nodiscard]] std::unique_ptr<conformance::CaseFiles> files_beside(const std::string& path);

// The same for a case's text, with the folder of its files.
[[nodiscard]] Result<conformance::Script> read_case(const std::string& text,
                                                    const std::string& path);

}  // namespace graphgate::tools
