// Facts of this build and this machine, for `graphgate --version`, `graphgate doctor` and for
// whoever must know what a report was made with.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace graphgate::tools {

// Keeps the commit that the program was built from. The program says it once, before it asks for
// facts: no library knows it, so that a commit builds none anew. Without it the commit is unknown.
void note_commit(std::string commit);

// Returns what a report of a bug needs to know of this build: version, commit, compiler, build
// type, allocator, C library, CUDA's headers, and the compiler for GPUs that is found at run time.
[[nodiscard]] nlohmann::ordered_json build_facts();
// Returns the same, and the facts of this machine. One object, a line of text or a number for each
// fact.
[[nodiscard]] nlohmann::ordered_json machine_facts();

// Returns a line for each fact: its name, padded to a column, and its value.
[[nodiscard]] std::string facts_text(const nlohmann::ordered_json& facts);

}  // namespace graphgate::tools
