// Which folder may include which: the rules of docs/architecture.md as data, and the check.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace graphgate::dev {

// A folder and the folders (or single files) that its sources may include, itself aside. A name
// that ends in '*' stands for the files of a folder without its subfolders. Tests (*_test.cpp,
// *_fuzzer.cpp and what only they include) keep the rules of the outermost folder, but those of
// the command line and of the example project.
struct Layer {
  std::string_view folder;
  std::vector<std::string_view> may_include;
  std::vector<std::string_view> system_libraries;  // prefixes of <...> beyond the standard library
  std::vector<std::string_view> but_not = {};      // of what it may include, or of itself
};

// A folder inside of another one stands before it: the first that a path starts with is its layer;
// of a test, the last.
[[nodiscard]] const std::vector<Layer>& layers();

// One line of a source file that includes what its layer may not: "reference/a.cpp:3: ...".
// `text` is the whole file.
[[nodiscard]] std::vector<std::string> forbidden_includes(std::string_view path,
                                                          std::string_view text);

}  // namespace graphgate::dev
