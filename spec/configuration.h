// What an executor is asked for, as text: the options of a case, of a command line, of a judge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace graphgate::spec {

// Values by the names of options (option.h): "memory" -> "lines", "no-reuse" -> "" (a switch),
// "deviation" -> "frees_twice,key_without_dtype" (options that may be repeated have a list). An
// empty configuration is the default one.
using Configuration = std::map<std::string, std::string, std::less<>>;

// "memory=lines no-reuse"; "default" for an empty one.
[[nodiscard]] std::string print_configuration(const Configuration& configuration);

// `changes` over `base`. An empty value in `changes` sets a switch; nothing is ever removed.
[[nodiscard]] Configuration merged(const Configuration& base, const Configuration& changes);

// The value of an option, or `otherwise` where it is not given.
[[nodiscard]] std::string_view value_of(const Configuration& configuration, std::string_view name,
                                        std::string_view otherwise = {});

// The elements of a list option, "a,b"; empty ones are left out. And back.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);
[[nodiscard]] std::string join_list(const std::vector<std::string>& elements);

// The place of an element in a list; nothing where it is not there.
[[nodiscard]] std::optional<std::size_t> place_in_list(std::string_view list,
                                                       std::string_view element);

// The value of an option that is a number; nothing where it is absent, no number, or 0.
[[nodiscard]] std::optional<std::uint32_t> number_option(const Configuration& options,
                                                         std::string_view name);

}  // namespace graphgate::spec
