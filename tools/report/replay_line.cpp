#include "tools/report/replay_line.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/shell_words.h"
#include "spec/option.h"

namespace graphgate::tools {
namespace {

// Names, or what names begin with, of variables that an executor's results may depend on.
constexpr std::string_view kReplayedNames[] = {"PYTHONPATH", "CUDA_VISIBLE_DEVICES",
                                               "OMP_NUM_THREADS", "ATEN_CPU_CAPABILITY", "CXX"};
constexpr std::string_view kBegins[] = {"TORCH", "PYTORCH_", "VLLM_"};
// What a report must not tell.
constexpr std::string_view kSecrets[] = {"KEY", "TOKEN", "SECRET", "PASSWORD"};

bool is_told(std::string_view name) {
  const bool is_named = std::find(std::begin(kReplayedNames), std::end(kReplayedNames), name) !=
                        std::end(kReplayedNames);
  const bool begins_so = std::any_of(std::begin(kBegins), std::end(kBegins),
                                     [&](std::string_view each) { return name.starts_with(each); });
  const bool is_secret = std::any_of(std::begin(kSecrets), std::end(kSecrets), [&](auto each) {
    return name.find(each) != std::string_view::npos;
  });
  return (is_named || begins_so) && !is_secret;
}

}  // namespace

std::string replay_environment() {
  std::vector<std::string> told;
  for (char** each = environ; each && *each; ++each) {
    const std::string_view variable = *each;
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos || !is_told(variable.substr(0, equals))) continue;
    told.push_back(std::string(variable.substr(0, equals + 1)) +
                   shell_word(variable.substr(equals + 1)));
  }
  std::sort(told.begin(), told.end());
  std::string text;
  for (const std::string& assignment : told) text += (text.empty() ? "" : " ") + assignment;
  return text;
}

std::vector<std::string> flag_words(const std::string& name, const std::string& value) {
  if (value.empty() || value.starts_with("-")) return {"--" + name + "=" + value};
  return {"--" + name, value};
}

std::vector<std::string> option_words(const spec::Configuration& options) {
  std::vector<std::string> words;
  const auto add = [&](const std::string& name, const std::string& value) {
    for (std::string& word : flag_words(name, value)) words.push_back(std::move(word));
  };
  for (const auto& [name, value] : options) {
    const spec::OptionRow* row = spec::find_option(name);
    if (value.empty()) {
      words.push_back("--" + name);
    } else if (row && row->is_several() && row->kind != spec::OptionKind::kSeveralInt64) {
      for (const std::string& element : spec::split_list(value)) add(name, element);
    } else {
      add(name, value);
    }
  }
  return words;
}

std::string replay_line(const std::string& environment, const std::vector<std::string>& words) {
  return environment + (environment.empty() ? "" : " ") + shell_line(words);
}

std::string print_option_setting(const spec::Configuration& options) {
  std::vector<std::string> words;
  for (const auto& [name, value] : options) {
    words.push_back(name + (value.empty() ? "" : "=" + value));
  }
  return shell_line(words);
}

spec::Configuration parse_option_setting(const std::string& text) {
  spec::Configuration options;
  const auto words = split_shell_line(text);
  if (!words.ok()) return options;
  for (const std::string& word : words.value()) {
    const std::size_t equals = std::min(word.find('='), word.size());
    options[word.substr(0, equals)] = word.substr(std::min(equals + 1, word.size()));
  }
  return options;
}

}  // namespace graphgate::tools
