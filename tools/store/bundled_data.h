// The files that come with the program: the corpus and the adapters, of an installation or of the
// sources that a build lies below.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace graphgate::tools {

// Returns the folder of the corpus (golden/) that comes with this program; empty where there is
// none.
[[nodiscard]] std::string bundled_corpus();

// Returns the folder that holds one folder for each adapter; empty where there is none.
[[nodiscard]] std::string bundled_adapters();

// The same for a program that lies there: PREFIX/bin/graphgate has PREFIX/share/graphgate/golden,
// SOURCES/build/NAME/graphgate has SOURCES/golden.
[[nodiscard]] std::string bundled_corpus_of(const std::filesystem::path& program);
[[nodiscard]] std::string bundled_adapters_of(const std::filesystem::path& program);

// Returns `path`, which begins with "golden" (golden/cases), where the current folder has it; else
// the folder of this name in the corpus that comes with this program. kBadInput where neither is
// there; `instead` says in the message what to name: "name folders with --corpus".
[[nodiscard]] Result<std::string> usual_corpus(const std::string& path, const std::string& instead);

}  // namespace graphgate::tools
