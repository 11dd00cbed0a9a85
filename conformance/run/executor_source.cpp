#include "conformance/run/executor_source.h"

#include <algorithm>
#include <charconv>

namespace graphgate::conformance {

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

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at) out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::optional<std::uint32_t> number_option(const Configuration& options, std::string_view name) {
  const auto found = options.find(name);
  if (found == options.end()) return std::nullopt;
  const std::string& text = found->second;
  std::uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || out == 0) return std::nullopt;
  return out;
}

std::string join_list(const std::vector<std::string>& elements) {
  std::string text;
  for (const std::string& element : elements) text += (text.empty() ? "" : ",") + element;
  return text;
}

}  // namespace graphgate::conformance
