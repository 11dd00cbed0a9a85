#include "fuzz/reduce/signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "conformance/judges/judge_report.h"
#include "spec/case_ops.h"
#include "spec/option.h"

namespace graphgate::fuzz {
namespace {

using conformance::CaseReport;
using conformance::Judge;
using spec::Finding;

// Nodes of a finding behind these are those of its surroundings.
constexpr std::size_t kMostOps = 2;

// Beginning with what is nearest to the cause: claims of plans name the nodes that they are wrong
// about, and need no data; wrong bits may show far away from where they began.
constexpr std::array<Judge, conformance::kJudgeCount> kNearest = {
    Judge::kVerifier, Judge::kHappensBefore, Judge::kShadow, Judge::kProvenance,
    Judge::kExact,    Judge::kBounds,        Judge::kState,  Judge::kConfigurations,
    Judge::kQuality,  Judge::kVacuity};

constexpr const char* kRun = "run";

// What two values at one place are called, whichever it is.
constexpr std::string_view kSharedPlace = "V3.overlap";
constexpr std::array<std::string_view, 3> kSharedPlaces = {kSharedPlace, "V3.kept-bytes",
                                                           "V3.in-place"};
constexpr std::string_view kRace = "HB.race";

// The judge that a rule about plans belongs to, whoever says it: "V3.overlap" is the plan
// verifier's, "HB.race" that of happens-before. Nothing for rules that are not about plans.
std::optional<Judge> judge_of_plans(std::string_view rule) {
  if (rule.starts_with("HB.")) return Judge::kHappensBefore;
  const bool is_verifiers =
      rule.size() > 1 && rule[0] == 'V' && std::isdigit(static_cast<unsigned char>(rule[1]));
  return is_verifiers ? std::optional(Judge::kVerifier) : std::nullopt;
}

bool is_finding(const Finding& finding) {
  using conformance::severity;
  return severity(finding.outcome) >= severity(spec::Outcome::kSuspect) &&
         finding.outcome != spec::Outcome::kInfra;
}

// "aten.add_.Tensor" -> "add_", "my.scale.default" -> "my.scale".
std::string base_name(std::string_view op) {
  for (const std::string_view shared : {"aten.", "higher_order.", "_operator.", "math."}) {
    if (!op.starts_with(shared)) continue;
    op.remove_prefix(shared.size());
    return std::string(op.substr(0, op.find('.')));
  }
  const std::size_t dot = op.find('.');
  if (dot == std::string_view::npos) return std::string(op);
  return std::string(op.substr(0, op.find('.', dot + 1)));
}

// A number, or a list of numbers and ranges: "4", "0xFF", "1:5,9".
bool is_number(std::string_view value) {
  if (value.empty() || !std::isdigit(static_cast<unsigned char>(value.front()))) return false;
  return std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return std::isxdigit(c) || c == 'x' || c == ',' || c == ':' || c == '.';
  });
}

// A list without the folders of shared objects in it: "a/b.so,reinplace" is "b.so,reinplace".
std::string without_folders(std::string_view value) {
  std::string out;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(','), value.size());
    std::string_view element = value.substr(0, end);
    value.remove_prefix(std::min(end + 1, value.size()));
    const std::size_t slash = element.rfind('/');
    if (element.ends_with(".so") && slash != std::string_view::npos) {
      element.remove_prefix(slash + 1);
    }
    out.append(out.empty() ? "" : ",").append(element);
  }
  return out;
}

// An option as signatures have it: without numbers, and without what means something in one program
// or on one machine alone. Which of the places a plan mutation takes ("frees_twice:7") is a seed.
std::string option_bit(const std::string& name, const std::string& value) {
  const spec::OptionRow* row = spec::find_option(name);
  if (value.empty() || is_number(value) || (row && row->is_local())) return name;
  const std::size_t colon = value.rfind(':');
  const bool has_seed =
      colon != std::string::npos && is_number(std::string_view(value).substr(colon + 1));
  if (has_seed) return name + "=" + value.substr(0, colon);
  return name + "=" + (value.find(".so") == std::string::npos ? value : without_folders(value));
}

// Ops by the names of nodes and values, those of each program and of all; the first of a name
// counts.
class NamedOps {
 public:
  // Those of one program.
  class Names {
   public:
    void add(const spec::Graph& graph) {
      for (const spec::Node& node : graph.nodes) {
        ops_.emplace(node.name, node.op);
        for (const spec::NodeResult& result : node.results) {
          for (const spec::ValueId id : result.values) {
            makers_.emplace(graph.value(id).name, node.op);
          }
        }
      }
      for (const spec::Graph& subgraph : graph.subgraphs) add(subgraph);
    }
    // The ops of these nodes, at most kMostOps.
    [[nodiscard]] std::vector<std::string> of_nodes(const std::vector<std::string>& nodes) const {
      return look_up(nodes, ops_);
    }
    // Of the nodes whose results have these names; buffers are called after what they hold first.
    [[nodiscard]] std::vector<std::string> of_makers(const std::vector<std::string>& values) const {
      return look_up(values, makers_);
    }

   private:
    using Map = std::map<std::string, std::string, std::less<>>;
    static std::vector<std::string> look_up(const std::vector<std::string>& names, const Map& map) {
      std::vector<std::string> out;
      for (const std::string& name : names) {
        const auto found = map.find(name);
        if (found != map.end() && out.size() < kMostOps) out.push_back(found->second);
      }
      return out;
    }
    Map ops_;
    Map makers_;
  };

  explicit NamedOps(const spec::CaseFile& the_case) {
    // The table of a case that no check accepts is the builtin one.
    const auto own = spec::shared_case_ops(the_case);
    table_ = own.ok() ? own.value() : spec::shared_case_ops({}).value();
    for (const spec::Program& program : the_case.programs) {
      all_.add(program.graph);
      by_program_[program.name].add(program.graph);
    }
  }

  // What names in a finding mean.
  [[nodiscard]] const Names& names_in(const Finding& finding) const {
    const auto found = by_program_.find(finding.program);
    return found == by_program_.end() ? all_ : found->second;
  }

  // Op families, "mul, index_put_".
  [[nodiscard]] std::string families(const std::vector<std::string>& ops) const {
    std::string text;
    for (const std::string& op : ops) text += (text.empty() ? "" : ", ") + op_family(op, *table_);
    return text;
  }

 private:
  std::shared_ptr<const spec::OpTable> table_;
  Names all_;
  std::map<std::string, Names, std::less<>> by_program_;
};

// What stands in quotes in a sentence.
std::vector<std::string> quoted_in(const std::string& message) {
  std::vector<std::string> names;
  std::size_t at = 0;
  while ((at = message.find('\'', at)) != std::string::npos) {
    const std::size_t end = message.find('\'', at + 1);
    if (end == std::string::npos) break;
    names.push_back(message.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return names;
}

bool names_error(std::string_view word) {
  const bool is_name = std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.';
  });
  return is_name && (word.ends_with("Error") || word.ends_with("Exception"));
}

// What an executor of others raised: of "InductorError: LoweringException: AssertionError: ...",
// as Python has it, the innermost. Empty where nothing looks like that.
std::string error_class_in(std::string_view message) {
  std::string_view innermost;
  while (!message.empty()) {
    const std::size_t end = message.find(": ");
    if (end == std::string_view::npos) break;
    const std::string_view word = message.substr(0, end);
    if (names_error(word)) {
      innermost = word;
    } else if (!innermost.empty()) {
      break;
    }
    message.remove_prefix(end + 2);
  }
  return std::string(innermost);
}

class SignatureMaker {
 public:
  explicit SignatureMaker(const spec::CaseFile& the_case)
      : ops_(the_case), configuration_(configuration_bits(the_case)) {}

  void add(const std::string& detector, const std::vector<Finding>& findings) {
    // What is proved goes before what is suspected.
    std::vector<const Finding*> ordered;
    for (const Finding& finding : findings) {
      if (is_finding(finding)) ordered.push_back(&finding);
    }
    std::stable_sort(ordered.begin(), ordered.end(), [](const Finding* a, const Finding* b) {
      return conformance::severity(a->outcome) > conformance::severity(b->outcome);
    });
    for (const Finding* finding : ordered) {
      Signature made{detector, finding->rule, pattern_of(*finding), configuration_};
      // What another judge says of other plans is no news where the verifier says it of this one.
      const bool is_said = std::ranges::any_of(out_, [&](const Signature& one) {
        const bool is_of_other = one.detector != detector && judge_of_plans(made.rule);
        return one == made || (is_of_other && one.same_fault(made));
      });
      if (!is_said) out_.push_back(std::move(made));
    }
  }

  // How the run ended goes first, then all that is said of plans.
  std::vector<Signature> take() {
    std::ranges::stable_partition(out_, [](const Signature& one) {
      return one.detector == kRun || judge_of_plans(one.rule);
    });
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string pattern_of(const Finding& finding) const {
    const NamedOps::Names& names = ops_.names_in(finding);
    std::string named = ops_.families(names.of_nodes(finding.nodes));
    if (named.empty()) named = ops_.families(names.of_nodes(quoted_in(finding.message)));
    if (named.empty()) named = ops_.families(names.of_makers(finding.buffers));
    if (named.empty()) named = error_class_in(finding.message);
    return named;
  }

  NamedOps ops_;
  std::string configuration_;
  std::vector<Signature> out_;
};

// The text up to `end`, which is taken off with it; nothing where there is no such end.
std::optional<std::string> take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  std::string out(text.substr(0, at));
  text.remove_prefix(at + 1);
  return out;
}

// The options of a signature, without what no signature tells: those of before have the values of
// "cache-env". Nothing where one has no name.
std::optional<std::string> told_of(std::string_view configuration) {
  std::string out;
  while (!configuration.empty()) {
    const std::size_t end = std::min(configuration.find(", "), configuration.size());
    const std::string_view bit = configuration.substr(0, end);
    configuration.remove_prefix(std::min(end + 2, configuration.size()));
    const std::string_view name = bit.substr(0, bit.find('='));
    if (name.empty()) return std::nullopt;
    const spec::OptionRow* row = spec::find_option(name);
    out += out.empty() ? "" : ", ";
    out += row && row->is_local() ? name : bit;
  }
  return out;
}

Error no_signature(std::string_view text) {
  return bad_input("expected a signature as 'DETECTOR RULE [OPS] {OPTIONS}', found '" +
                   std::string(text) + "'");
}

}  // namespace

bool Signature::same_fault(const Signature& other) const {
  return fault_of(*this) == fault_of(other);
}

Signature fault_of(Signature signature) {
  signature.configuration.clear();
  const auto judge = judge_of_plans(signature.rule);
  if (!judge) return signature;
  signature.detector = conformance::judge_name(*judge);
  const bool is_shared = std::ranges::find(kSharedPlaces, signature.rule) != kSharedPlaces.end();
  if (is_shared) signature.rule = kSharedPlace;
  if (is_shared || signature.rule == kRace) signature.pattern.clear();
  return signature;
}

std::string print_signature(const Signature& signature) {
  return signature.detector + " " + signature.rule + " [" + signature.pattern + "] {" +
         signature.configuration + "}";
}

Result<Signature> parse_signature(std::string_view text) {
  std::string_view rest = text;
  const auto detector = take_until(rest, ' ');
  const auto rule = detector ? take_until(rest, '[') : std::nullopt;
  const auto pattern = rule ? take_until(rest, ']') : std::nullopt;
  const bool is_whole = pattern && !detector->empty() && rule->size() > 1 && rule->back() == ' ' &&
                        rest.starts_with(" {") && rest.ends_with('}');
  if (!is_whole) return no_signature(text);
  const auto configuration = told_of(rest.substr(2, rest.size() - 3));
  if (!configuration) return no_signature(text);
  return Signature{*detector, rule->substr(0, rule->size() - 1), *pattern, *configuration};
}

std::vector<Signature> signatures_of(const CaseReport& report, const spec::CaseFile& the_case) {
  SignatureMaker maker(the_case);
  maker.add(kRun, report.findings);
  for (const Judge judge : kNearest) {
    for (const conformance::JudgeReport& said : report.judges) {
      if (said.judge != judge) continue;
      maker.add(std::string(conformance::judge_name(judge)), said.findings);
    }
  }
  return maker.take();
}

std::optional<Signature> signature_of(const CaseReport& report, const spec::CaseFile& the_case) {
  std::vector<Signature> all = signatures_of(report, the_case);
  if (all.empty()) return std::nullopt;
  return std::move(all.front());
}

std::string configuration_bits(const spec::CaseFile& the_case) {
  std::string text;
  for (const auto& [name, value] : the_case.options) {
    text += (text.empty() ? "" : ", ") + option_bit(name, value);
  }
  return text;
}

Signature signature_of_ending(std::string detector, std::string rule,
                              const spec::CaseFile& the_case) {
  return {std::move(detector), std::move(rule), "", configuration_bits(the_case)};
}

std::optional<Judge> judge_of(const Signature& signature) {
  return conformance::parse_judge(signature.detector);
}

std::string op_family(std::string_view op, const spec::OpTable& ops) {
  const spec::OpRow* row = ops.find(op);
  std::string name;
  if (row && row->has_tag("pointwise")) {
    name = "pointwise";
  } else if (row && row->has_tag("reduction")) {
    name = "reduction";
  } else if (row && row->effects.is_view) {
    name = "view";
  } else {
    name = base_name(op);
  }
  const bool writes = row && row->effects.mutates();
  if (writes && !name.ends_with('_')) name += '_';
  return name;
}

}  // namespace graphgate::fuzz
