#include "tools/gate/waivers.h"

#include <charconv>
#include <chrono>

#include "base/formatted.h"
#include "fuzz/campaign/named_lines.h"

namespace graphgate::tools {
namespace {

template <class Number>
bool read_digits(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// "2027-01-31", of the calendar.
bool is_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  const bool reads = read_digits(text.substr(0, 4), year) &&
                     read_digits(text.substr(5, 2), month) && read_digits(text.substr(8, 2), day);
  using namespace std::chrono;
  return reads &&
         year_month_day(std::chrono::year(year), std::chrono::month(month), std::chrono::day(day))
             .ok();
}

}  // namespace

Result<Waivers> parse_waivers(std::string_view text, std::string_view source) {
  Waivers waivers;
  const auto take = [&](const std::string& name, std::istringstream& words) -> Result<void> {
    Waiver waiver;
    words >> waiver.issue >> waiver.last_day;
    std::getline(words >> std::ws, waiver.note);
    GRAPHGATE_TRY_VOID(fuzz::expect_address(waiver.issue, name));
    if (!is_day(waiver.last_day)) {
      return bad_input("expected the last day, YYYY-MM-DD, behind '" + name + " " + waiver.issue +
                       "'");
    }
    waivers.emplace(name, std::move(waiver));
    return {};
  };
  GRAPHGATE_TRY_VOID(fuzz::read_named_lines(text, source, take));
  return waivers;
}

std::string today() {
  using namespace std::chrono;
  const year_month_day day(floor<days>(system_clock::now()));
  return formatted("%04d-%02u-%02u", static_cast<int>(day.year()),
                   static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

}  // namespace graphgate::tools
