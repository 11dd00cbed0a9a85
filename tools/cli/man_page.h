// Pages made of the command line's table: what --help says, for man(1) and as Markdown.
#pragma once

#include <string>

#include "tools/cli/command_table.h"

namespace graphgate::tools {

// Returns "graphgate-fuzz-merge": the page is NAME.1 in section 1.
[[nodiscard]] std::string man_page_name(const VerbText& verb);

// Returns the page of a verb, or of the program with its list of verbs. `parent` is the verb above,
// which it refers to; null for the program.
[[nodiscard]] std::string man_page(const VerbText& verb, const VerbText* parent);

// Returns docs/cli.md: all verbs on one page. Options of executors stand in docs/options.md.
[[nodiscard]] std::string markdown_page(const VerbText& program);

}  // namespace graphgate::tools
