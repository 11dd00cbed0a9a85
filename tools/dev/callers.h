// Nothing unreachable: a function that a header declares has a caller outside of its own test.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace graphgate::dev {

// Names of source files, by path ("fuzz/reduce/reducer.h").
class Callers {
 public:
  // `text` is formatted by the project's .clang-format: what is declared at namespace scope is not
  // indented, public members are by two columns.
  void add(std::string_view path, std::string_view text);

  // One line for each function of a header that is named nowhere but where it is declared and
  // defined, and in the test of the same name: "a/b.h: nobody calls f". Names are compared, not
  // what they refer to, so that some functions without a caller are not found.
  [[nodiscard]] std::vector<std::string> findings() const;

 private:
  struct File {
    std::map<std::string, int, std::less<>> named;     // how often
    std::map<std::string, int, std::less<>> declared;  // of these: as a function at its declaration
  };
  std::map<std::string, File, std::less<>> files_;
  std::map<std::string, int, std::less<>> files_with_;  // by name
};

}  // namespace graphgate::dev
