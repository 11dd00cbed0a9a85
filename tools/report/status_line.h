// Lines for who watches a run, and on a terminal one below them that is written over.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

namespace graphgate::tools {

// Returns the columns of the terminal that the file is, 80 where it does not tell; nothing where it
// is none.
[[nodiscard]] std::optional<int> terminal_columns(std::FILE* file);

// Returns "8h 05m", "3m 20s", "1.5s".
[[nodiscard]] std::string print_duration(double seconds);

class StatusLine {
 public:
  // With `redraws` the status is shown, cut to `columns`.
  StatusLine(std::FILE* file, bool redraws, int columns);
  // Shows the status in place of the one before.
  void show(const std::string& status);
  // Prints a line, made plain, above the status.
  void print(const std::string& line);
  // Takes the status away, and prints these lines.
  void end(const std::string& lines);

 private:
  std::FILE* file_;
  bool redraws_;
  std::size_t columns_;
  std::string status_;
};

}  // namespace graphgate::tools
