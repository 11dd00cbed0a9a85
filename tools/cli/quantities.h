// Times and sizes as they are typed: "8h", "1h30m", "90"; "4GiB", "512M".
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace graphgate::tools {

// Seconds. Numbers with h, m or s behind them, largest first, each at most once; a number alone is
// seconds. kBadInput for anything else, and for none at all.
[[nodiscard]] Result<double> parse_duration(std::string_view text);

// Bytes. A whole number with K, M, G or T behind it (powers of 1024; KiB, MiB... as well), or
// alone.
[[nodiscard]] Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace graphgate::tools
