#include "spec/configuration.h"

#include <algorithm>
#include <charconv>

namespace graphgate::spec {

std::string print_configuration(const Configuration& configuration) {
  std::string text;
  for (const auto& [name, value] : configuration) {
    text += (text.empty() ? "" : " ") + name + (value.empty() ? "" : "=" + value);
  }
  return text.empty() ? "default" : text;
}

Configuration merged(const Configuration& base, const Configuration& changes) {
  Configuration both = changes;
  both.insert(base.begin(), base.end());
  return both;
}

std::string_view value_of(const Configuration& configuration, std::string_view name,
                          std::string_view otherwise) {
  const auto found = configuration.find(name);
  return found == configuration.end() ? otherwise : std::string_view(found->second);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at) out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::optional<std::size_t> place_in_list(std::string_view list, std::string_view element) {
  for (std::size_t place = 0; !list.empty(); ++place) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == element) return place;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return std::nullopt;
}

std::string join_list(const std::vector<std::string>& elements) {
  std::string text;
  for (const std::string& element : elements) text += (text.empty() ? "" : ",") + element;
  return text;
}

std::optional<std::uint32_t> number_option(const Configuration& options, std::string_view name) {
  const std::string_view text = value_of(options, name);
  std::uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || out == 0) return std::nullopt;
  return out;
}

}  // namespace graphgate::spec
