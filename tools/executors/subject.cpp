#include "tools/executors/subject.h"

#include <algorithm>
#include <iterator>

#include "tools/executors/executor_sources.h"
#include "tools/executors/process_subject.h"
#include "tools/executors/python_subject.h"

namespace graphgate::tools {
namespace {

// The whole text, or what it begins with; `make` gets what stands behind that.
struct Kind {
  std::string_view word;
  bool is_whole;
  MadeSubject (*make)(const std::string& rest, const SubjectSettings& settings);
};

MadeSubject make_reference(const std::string& /*rest*/, const SubjectSettings& settings) {
  return reference_source(settings.allow_zero_and_one);
}

MadeSubject make_optimized(const std::string& /*rest*/, const SubjectSettings& /*settings*/) {
  return optimized_source();
}

// The first that fits.
constexpr Kind kKinds[] = {{"reference", true, make_reference}, {"optimized", true, make_optimized},
                           {"python:", false, python_subject},  {"vllm:", false, vllm_subject},
                           {"cmd:", false, process_subject},    {"", false, process_subject}};

}  // namespace

conformance::Configuration taken_of(const Subject& subject, conformance::Configuration options) {
  std::erase_if(options, [&](const auto& option) {
    const bool is_checked = subject.is_process() && option.first == spec::option::kSemantics;
    return !is_checked && !subject.takes(option.first);
  });
  return options;
}

MadeSubject make_subject(const std::string& text, const SubjectSettings& settings) {
  const Kind* const last = std::prev(std::end(kKinds));  // takes any text
  const Kind* const kind = std::find_if(std::begin(kKinds), last, [&](const Kind& one) {
    return one.is_whole ? text == one.word : text.starts_with(one.word);
  });
  const std::string rest = text.substr(kind->word.size());
  if (!kind->is_whole && !kind->word.empty() && rest.find_first_not_of(' ') == std::string::npos) {
    return bad_input("nothing stands behind " + std::string(kind->word));
  }
  return kind->make(rest, settings);
}

const std::vector<std::string>& built_in_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Kind& kind : kKinds) {
      if (kind.is_whole) names.emplace_back(kind.word);
    }
    return names;
  }();
  return kNames;
}

std::chrono::milliseconds answer_time(double seconds) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace graphgate::tools
