// Configuration bits: options of the case and of restarts, elements of lists, rows of custom ops.
#include "fuzz/reduce/reduction_pass.h"
#include "spec/deviation.h"
#include "spec/option.h"

namespace graphgate::fuzz {
namespace {

namespace option = spec::option;
using spec::CaseFile;

// One option, or one element of its value.
struct OptionPlace {
  std::string name;
  std::size_t element = 0;
};

std::vector<OptionPlace> options_of(const CaseFile& the_case, const KeptOptions& kept) {
  std::vector<OptionPlace> out;
  for (const auto& [name, value] : the_case.options) {
    if (!kept.contains(name)) out.push_back({name, 0});
  }
  return out;
}

Candidate drop_options(const CaseFile& the_case, const KeptOptions& kept, std::size_t begin,
                       std::size_t end) {
  const std::vector<OptionPlace> places = options_of(the_case, kept);
  CaseFile out = the_case;
  for (std::size_t i = begin; i < end; ++i) out.options.erase(places[i].name);
  return out;
}

std::vector<OptionPlace> option_elements(const CaseFile& the_case, const KeptOptions& kept) {
  std::vector<OptionPlace> out;
  for (const auto& [name, value] : the_case.options) {
    const std::size_t count = spec::split_list(value).size();
    if (kept.contains(name) || count < 2) continue;
    for (std::size_t e = 0; e < count; ++e) out.push_back({name, e});
  }
  return out;
}

Candidate drop_option_element(const CaseFile& the_case, const KeptOptions& kept,
                              std::size_t index) {
  const OptionPlace place = option_elements(the_case, kept)[index];
  CaseFile out = the_case;
  std::string& value = out.options.find(place.name)->second;
  const std::vector<std::string> elements = spec::split_list(value);
  value.clear();
  for (std::size_t e = 0; e < elements.size(); ++e) {
    if (e != place.element) value += (value.empty() ? "" : ",") + elements[e];
  }
  return out;
}

// A profile stands for many deviations; one of them alone says what is wrong.
Candidate name_deviation(const CaseFile& the_case, std::size_t index) {
  if (!the_case.options.contains(option::kProfile)) return std::nullopt;
  CaseFile out = the_case;
  out.options.erase(option::kProfile);
  std::string& deviations = out.options[option::kDeviation];
  deviations += (deviations.empty() ? "" : ",") + std::string(spec::deviations()[index].name);
  return out;
}

std::vector<std::pair<std::size_t, std::string>> restart_options(const CaseFile& the_case) {
  std::vector<std::pair<std::size_t, std::string>> out;
  for (std::size_t s = 0; s < the_case.scenario.steps.size(); ++s) {
    const auto* restart = std::get_if<spec::RestartStep>(&the_case.scenario.steps[s]);
    if (!restart) continue;
    for (const auto& [name, value] : restart->options) out.emplace_back(s, name);
  }
  return out;
}

Candidate drop_restart_options(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  const auto places = restart_options(the_case);
  CaseFile out = the_case;
  for (std::size_t i = begin; i < end; ++i) {
    std::get<spec::RestartStep>(out.scenario.steps[places[i].first])
        .options.erase(places[i].second);
  }
  return out;
}

std::size_t count_ops(const CaseFile& the_case) { return the_case.ops.size(); }

Candidate drop_ops(const CaseFile& the_case, std::size_t begin, std::size_t end) {
  CaseFile out = the_case;
  out.ops.erase(out.ops.begin() + static_cast<std::ptrdiff_t>(begin),
                out.ops.begin() + static_cast<std::ptrdiff_t>(end));
  return out;
}

}  // namespace

std::vector<ReductionPass> option_passes(const KeptOptions& kept) {
  return {
      {"options", [kept](const CaseFile& the_case) { return options_of(the_case, kept).size(); },
       [kept](const CaseFile& the_case, std::size_t begin, std::size_t end) {
         return drop_options(the_case, kept, begin, end);
       }},
      single_pass(
          "elements of options",
          [kept](const CaseFile& the_case) { return option_elements(the_case, kept).size(); },
          [kept](const CaseFile& the_case, std::size_t index) {
            return drop_option_element(the_case, kept, index);
          }),
      single_pass(
          "the profile for a deviation",
          [kept](const CaseFile& the_case) {
            const bool is_free = the_case.options.contains(option::kProfile) &&
                                 !kept.contains(option::kProfile) &&
                                 !kept.contains(option::kDeviation);
            return is_free ? spec::deviations().size() : 0;
          },
          name_deviation),
      {"options of restarts", count_of<restart_options>, drop_restart_options},
      {"custom ops", count_ops, drop_ops}};
}

}  // namespace graphgate::fuzz
