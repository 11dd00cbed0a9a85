// Files that people keep beside findings: one line for each name, with an issue, and words behind.
//
//   # What begins with # is for people, as are empty lines.
//   NAME ...
//
// The ledger of a campaign and the waivers of a gate are such files.
#pragma once

#include <functional>
#include <sstream>
#include <string>
#include <string_view>

#include "base/result.h"

namespace graphgate::fuzz {

// What a line says of a name: `words` begins behind it. An error is given the line's place.
using TakeNamedLine =
    std::function<Result<void>(const std::string& name, std::istringstream& words)>;

// kBadInput with the line ("source:3: ..."): what `take` refuses, and names that come twice.
[[nodiscard]] Result<void> read_named_lines(std::string_view text, std::string_view source,
                                            const TakeNamedLine& take);

// kBadInput where an issue is no address; `before` is what stands in front of it.
[[nodiscard]] Result<void> expect_address(const std::string& issue, const std::string& before);

}  // namespace graphgate::fuzz
