// One name, one type: no two files may define different types of the same name in one namespace.
//
// Compilers and linkers do not see it when two sources disagree on what a name means: templates
// over the type (a std::vector's growth, say) are then merged into one of the two, and the other
// runs over its elements with the wrong size.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace graphgate::dev {

// "graphgate::optimized::Access" -> the files that define it.
using TypeDefinitions = std::map<std::string, std::set<std::string>>;

// Adds the classes, structures and enumerations that a file defines at namespace scope. Not those
// in unnamed namespaces, which are the file's own, nested ones, and specializations of templates.
// `text` is formatted by the project's .clang-format: namespace scope is not indented.
void add_type_definitions(std::string_view path, std::string_view text, TypeDefinitions& into);

}  // namespace graphgate::dev
