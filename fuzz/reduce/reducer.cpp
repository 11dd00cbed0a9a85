#include "fuzz/reduce/reducer.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "fuzz/reduce/reduction_walk.h"
#include "spec/option.h"

namespace graphgate::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t elements_of(const spec::HostTensor& tensor) {
  return static_cast<std::size_t>(spec::element_count(tensor.sizes));
}

struct GraphWeight {
  std::size_t nodes = 0;
  std::size_t arguments = 0;
  std::size_t sizes = 0;   // the sum of constant ones
  std::size_t dtypes = 0;  // values of other dtypes than the usual ones, complex128 twice
};

bool is_usual(spec::DType dtype) {
  return dtype == spec::DType::kFloat32 || dtype == spec::DType::kInt64 ||
         dtype == spec::DType::kBool;
}

void add(const spec::Graph& graph, GraphWeight& weight) {
  weight.nodes += graph.nodes.size();
  for (const spec::Node& node : graph.nodes) weight.arguments += node.arguments.size();
  for (const spec::Value& value : graph.values) {
    if (!value.type) continue;
    weight.dtypes += is_usual(value.type->dtype)                     ? 0
                     : value.type->dtype == spec::DType::kComplex128 ? 2
                                                                     : 1;
    for (const spec::SymExpr& size : value.type->sizes) {
      if (size.is_constant()) weight.sizes += static_cast<std::size_t>(size.constant());
    }
  }
  for (const spec::Graph& subgraph : graph.subgraphs) add(subgraph, weight);
}

std::size_t literal_elements(const spec::CaseFile& the_case) {
  std::size_t count = 0;
  for (const spec::Program& program : the_case.programs) {
    for (const auto& [target, tensor] : program.tensors) count += elements_of(tensor);
  }
  for (const spec::InputSet& set : the_case.inputs) {
    for (const spec::CaseInput& input : set.inputs) {
      const auto* tensor = std::get_if<spec::HostTensor>(&input.data);
      count += tensor ? elements_of(*tensor) : 1;
    }
  }
  return count;
}

spec::CaseFile without_header(spec::CaseFile the_case) {
  the_case.header.clear();
  return the_case;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

class Reducer {
 public:
  Reducer(const spec::CaseFile& the_case, const ClassifyCase& classify, const ReduceLimits& limits)
      : classify_(classify), limits_(limits), walk_(the_case, pass_groups(limits.kept_options)) {
    out_.the_case = the_case;
  }

  Reduced run() {
    out_.before = size_of(out_.the_case);
    out_.shows =
        spec::check_case(out_.the_case).ok() && classify(out_.the_case) == CheckResult::kSame;
    if (out_.shows) {
      while (!walk_.is_at_end() && !is_over()) {
        if (auto candidate = walk_.propose()) try_it(std::move(*candidate));
      }
      out_.is_finished = !is_over();
      find_neighbour();
    }
    out_.after = size_of(out_.the_case);
    out_.seconds = seconds();
    return std::move(out_);
  }

 private:
  void try_it(spec::CaseFile candidate) {
    switch (classify(candidate)) {
      case CheckResult::kSame:
        walk_.accept(std::move(candidate));
        state_types();
        out_.the_case = walk_.the_case();
        if (limits_.on_step) limits_.on_step(out_);
        break;
      case CheckResult::kPasses:
        passing_.push_back(std::move(candidate));
        break;
      case CheckResult::kOther:
        break;
    }
  }

  // Only where a pass has left a type open; the text grows by it, and nothing else.
  void state_types() {
    if (!limits_.state_types || !has_open_type(walk_.the_case())) return;
    spec::CaseFile stated = limits_.state_types(walk_.the_case());
    if (!has_open_type(stated) && classify(stated) == CheckResult::kSame) {
      walk_.restate(std::move(stated));
    }
  }

  CheckResult classify(const spec::CaseFile& the_case) {
    ++out_.checks;
    return classify_(the_case);
  }

  // Of candidates that differ by as many lines, the latest is nearest to the end of the path.
  void find_neighbour() {
    std::size_t least = 0;
    for (auto one = passing_.rbegin(); one != passing_.rend(); ++one) {
      const std::size_t lines = differing_lines(out_.the_case, *one).size();
      if (out_.passing && lines >= least) continue;
      least = lines;
      out_.passing = *one;
    }
  }

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  [[nodiscard]] bool is_over() const {
    const bool is_stopped = limits_.should_stop && limits_.should_stop();
    return is_stopped || out_.checks >= limits_.checks || seconds() >= limits_.seconds;
  }

  const ClassifyCase& classify_;
  const ReduceLimits& limits_;
  ReductionWalk walk_;
  Clock::time_point begin_ = Clock::now();
  Reduced out_;
  std::vector<spec::CaseFile> passing_;
};

}  // namespace

CaseSize size_of(const spec::CaseFile& the_case) {
  CaseSize size;
  GraphWeight weight;
  for (const spec::Program& program : the_case.programs) add(program.graph, weight);
  size.nodes = weight.nodes;
  for (const spec::Step& step : the_case.scenario.steps) {
    size.calls += std::holds_alternative<spec::CallStep>(step) ? 1 : 0;
  }
  size.options = the_case.options.size();
  size.programs = the_case.programs.size();
  return size;
}

std::vector<std::size_t> case_weight(const spec::CaseFile& the_case) {
  const CaseSize size = size_of(the_case);
  GraphWeight graphs;
  std::size_t ports = 0;
  std::size_t symbols = 0;
  for (const spec::Program& program : the_case.programs) {
    add(program.graph, graphs);
    ports += program.inputs.size() + program.outputs.size();
    symbols += program.symbols.size();
  }
  std::size_t sizes = graphs.sizes;
  for (const spec::Step& step : the_case.scenario.steps) {
    const auto* call = std::get_if<spec::CallStep>(&step);
    if (!call) continue;
    for (const auto& [name, value] : call->sizes) sizes += static_cast<std::size_t>(value);
  }
  // A profile stands for many deviations.
  const std::size_t options =
      size.options + (the_case.options.contains(spec::option::kProfile) ? 1 : 0);
  const auto text = spec::print_case(the_case);
  return {size.calls,
          size.programs,
          size.nodes,
          the_case.scenario.steps.size(),
          ports,
          options + the_case.ops.size(),
          graphs.arguments,
          symbols,
          graphs.dtypes,
          sizes,
          literal_elements(the_case),
          text.ok() ? text.value().size() : 0};
}

Reduced reduce(const spec::CaseFile& the_case, const ClassifyCase& classify,
               const ReduceLimits& limits) {
  return Reducer(the_case, classify, limits).run();
}

Reduced reduce(const spec::CaseFile& the_case, const CheckCase& check, const ReduceLimits& limits) {
  const ClassifyCase classify = [&](const spec::CaseFile& candidate) {
    return check(candidate) ? CheckResult::kSame : CheckResult::kPasses;
  };
  return reduce(the_case, classify, limits);
}

std::vector<std::string> differing_lines(const spec::CaseFile& the_case,
                                         const spec::CaseFile& neighbour) {
  const auto text = spec::print_case(without_header(the_case));
  const auto other = spec::print_case(without_header(neighbour));
  if (!text.ok() || !other.ok()) return {};
  std::map<std::string, int> surplus;
  for (const std::string& line : lines_of(text.value())) ++surplus[line];
  for (const std::string& line : lines_of(other.value())) --surplus[line];
  std::vector<std::string> out;
  for (const auto& [text_of, wanted] : {std::pair(&text, 1), std::pair(&other, -1)}) {
    std::map<std::string, int> left = surplus;
    for (const std::string& line : lines_of(text_of->value())) {
      int& count = left[line];
      if (count * wanted <= 0) continue;
      count -= wanted;
      const std::size_t begin = line.find_first_not_of(' ');
      out.push_back((wanted > 0 ? "- " : "+ ") +
                    (begin == std::string::npos ? line : line.substr(begin)));
    }
  }
  return out;
}

}  // namespace graphgate::fuzz
