#include "tools/cli/quantities.h"

#include <charconv>
#include <optional>
#include <string>

namespace graphgate::tools {
namespace {

// Takes a number off the text.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || value < Number{0}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

}  // namespace

Result<double> parse_duration(std::string_view text) {
  const auto bad = [&] {
    return bad_input("expected a time as 8h, 1h30m or 90s, found '" + std::string(text) + "'");
  };
  struct Unit {
    char letter;
    double seconds;
  };
  constexpr Unit kUnits[] = {{'h', 3600}, {'m', 60}, {'s', 1}};
  std::string_view rest = text;
  double sum = 0;
  for (const Unit& unit : kUnits) {
    std::string_view ahead = rest;
    const auto number = take_number<double>(ahead);
    if (!number) break;
    const bool is_alone = ahead.empty() && rest.size() == text.size();
    if (is_alone) return *number > 0 && *number < 1e9 ? Result<double>(*number) : bad();
    if (ahead.empty() || ahead.front() != unit.letter) continue;
    sum += *number * unit.seconds;
    rest = ahead.substr(1);
  }
  const bool is_whole = rest.empty() && !text.empty() && sum > 0 && sum < 1e9;
  return is_whole ? Result<double>(sum) : bad();
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const auto bad = [&] {
    return bad_input("expected a size as 4GiB or 512M, found '" + std::string(text) + "'");
  };
  std::string_view rest = text;
  const auto number = take_number<std::uint64_t>(rest);
  if (!number) return bad();
  if (rest.empty() || rest == "B") return *number;
  const std::size_t power = std::string_view("KMGT").find(rest.front());
  rest.remove_prefix(1);
  const bool is_unit = power != std::string_view::npos && (rest.empty() || rest == "iB");
  const std::uint64_t shift = 10 * (power + 1);
  if (!is_unit || *number > (~std::uint64_t{0} >> shift)) return bad();
  return *number << shift;
}

}  // namespace graphgate::tools
