// One name, one meaning: no two files may define types of the same name in one namespace, or inline
// functions of the same name and parameters.
//
// Compilers and linkers do not see it when two sources disagree on what a name means. Templates
// over the type (a std::vector's growth, say) are then merged into one of the two. The other runs
// over its elements with the wrong size. Of two inline functions one is kept for both.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace graphgate::dev {

// "graphgate::optimized::Access", "graphgate::optimized::counting(std::vector<std::int64_t> sizes)"
// -> the files that define it.
using TypeDefinitions = std::map<std::string, std::set<std::string>>;

// Adds the classes, structures, enumerations and inline functions that a file defines at namespace
// scope. Not those in unnamed namespaces, which are the file's own, nested ones, and templates.
// `text` is formatted by the project's .clang-format: namespace scope is not indented.
void add_type_definitions(std::string_view path, std::string_view text, TypeDefinitions& into);

}  // namespace graphgate::dev
