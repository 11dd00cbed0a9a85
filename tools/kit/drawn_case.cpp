#include "tools/kit/drawn_case.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/atomic_file.h"
#include "base/child_processes.h"
#include "base/shell_words.h"
#include "fuzz/campaign/reduce_case.h"
#include "fuzz/campaign/shard.h"
#include "fuzz/generate/alphabet.h"
#include "fuzz/generate/generator.h"
#include "fuzz/reduce/stated_types.h"
#include "tools/executors/executor_sources.h"

namespace graphgate::kit {
namespace {

using spec::CaseFile;

// The reference, which stands for who is under test as well: nobody is.
class Reference {
 public:
  [[nodiscard]] fuzz::CaseExecutors get() const {
    return {*source_, *source_, *wide_source_, fuzz::no_files()};
  }

 private:
  std::unique_ptr<conformance::ExecutorSource> source_ = tools::reference_source(false);
  std::unique_ptr<conformance::ExecutorSource> wide_source_ = tools::reference_source(true);
};

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_dtypes(const spec::Graph& graph, const std::vector<spec::DType>& dtypes) {
  const auto is_drawn = [&](const spec::Value& value) {
    return !value.type ||
           std::find(dtypes.begin(), dtypes.end(), value.type->dtype) != dtypes.end();
  };
  return std::all_of(graph.values.begin(), graph.values.end(), is_drawn) &&
         std::all_of(graph.subgraphs.begin(), graph.subgraphs.end(),
                     [&](const spec::Graph& each) { return has_dtypes(each, dtypes); });
}

bool has_dtypes(const CaseFile& the_case, const std::vector<spec::DType>& dtypes) {
  return dtypes.empty() || std::all_of(the_case.programs.begin(), the_case.programs.end(),
                                       [&](const spec::Program& program) {
                                         return has_dtypes(program.graph, dtypes);
                                       });
}

CaseFile case_of_genes(const fuzz::GeneVector& genes, const fuzz::Alphabet& alphabet,
                       const Draw& draw) {
  CaseFile the_case = fuzz::draw_case(genes, alphabet);
  std::erase_if(the_case.options,
                [&](const auto& option) { return !has(draw.options, option.first); });
  return the_case;
}

// The cases of one number, attempt by attempt.
class Attempts {
 public:
  Attempts(const Draw& draw, const fuzz::Alphabet& alphabet, std::uint64_t number)
      : draw_(draw), alphabet_(alphabet), number_(number) {}

  [[nodiscard]] fuzz::GeneVector genes(std::uint64_t attempt) const {
    return fuzz::genes_of(number_, attempt);
  }
  // The attempt's case, where it has the dtypes that are asked for.
  [[nodiscard]] std::optional<CaseFile> draw(std::uint64_t attempt) const {
    CaseFile the_case = case_of_genes(genes(attempt), alphabet_, draw_);
    if (!has_dtypes(the_case, draw_.dtypes)) return std::nullopt;
    return the_case;
  }
  // The first one whose case is taken, calling `begin(attempt)` before the engine sees each;
  // the number of attempts where there is none, with why the last was refused.
  template <class Begin>
  std::uint64_t first_taken(Begin&& begin, std::string& refusal) const {
    refusal = "their dtypes are others";
    for (std::uint64_t attempt = 0; attempt < draw_.attempts; ++attempt) {
      const auto the_case = draw(attempt);
      if (!the_case) continue;
      begin(attempt);
      const auto taken = draw_.engine ? draw_.engine->load(*the_case) : Result<void>();
      // What goes wrong otherwise is for judges to tell.
      if (taken.ok() || taken.error().kind != ErrorKind::kUnsupported) return attempt;
      refusal = taken.error().message;
    }
    return draw_.attempts;
  }
  // The same in a process of its own. What ends that is taken: judges will tell of it.
  Result<std::uint64_t> first_taken_apart(std::string& refusal) const {
    ChildOptions options;
    options.timeout_seconds = draw_.engine->settings().timeout_seconds;
    ChildPool pool(options);
    GRAPHGATE_TRY_VOID(pool.start_series(0, [&](const ChildPool::HandBack& hand_back) {
      std::string why;
      const auto begin = [&](std::uint64_t attempt) { hand_back(std::to_string(attempt)); };
      const std::uint64_t taken = first_taken(begin, why);
      if (taken == draw_.attempts) hand_back(std::to_string(taken));
      hand_back(why);
    }));
    std::vector<std::string> told;
    while (pool.running() > 0) {
      constexpr int kTickMilliseconds = 50;
      for (auto& [index, child] : pool.wait(kTickMilliseconds)) {
        told = take_texts(child.output);
        if (child.ending == ChildEnding::kExited && !told.empty()) {
          refusal = told.back();
          told.pop_back();
        }
      }
    }
    std::uint64_t taken = draw_.attempts;
    if (told.empty()) return infrastructure("the process that loads drawn programs said nothing");
    std::from_chars(told.back().data(), told.back().data() + told.back().size(), taken);
    return taken;
  }

 private:
  const Draw& draw_;
  const fuzz::Alphabet& alphabet_;
  std::uint64_t number_;
};

DrawnCase with_other(const DrawnCase& drawn, fuzz::CasePart part, std::uint64_t number) {
  if (drawn.is_reduced) return drawn;
  const auto alphabet = fuzz::parse_alphabet(drawn.origin->draw.ops, drawn.origin->draw.exclude);
  if (!alphabet.ok()) return drawn;
  DrawnCase other = drawn;
  other.origin = std::make_shared<Origin>(*drawn.origin);
  fuzz::redraw(other.origin->genes, part, number);
  other.origin->has_redrawn_parts = true;
  other.origin->sought.reset();
  other.the_case = case_of_genes(other.origin->genes, alphabet.value(), drawn.origin->draw);
  return other;
}

// How the case is drawn again, unreduced, by who does not have the engine.
std::string origin_words(const Origin& origin) {
  const char* const more = origin.has_redrawn_parts ? ", and a part of it again" : "";
  std::vector<std::string> words = {"graphgate", "replay", origin.id};
  for (const auto& [flag, value] :
       {std::pair("--ops", &origin.draw.ops), std::pair("--exclude", &origin.draw.exclude)}) {
    if (!value->empty()) words.insert(words.end(), {flag, *value});
  }
  words.insert(words.end(), {"--write", "drawn.case"});
  return "\n  drawn as " + origin.id + more + ": " + shell_line(words);
}

// Keeps a case that fails, over the larger one that it was made of.
std::string keep(CaseFile the_case, const Origin& origin, const Verdict& verdict) {
  const char* const folder = std::getenv("GRAPHGATE_CASES");
  if (!folder || !*folder) {
    return "\n  to have the case in a file, name a folder by GRAPHGATE_CASES";
  }
  std::string name = origin.id;
  std::replace(name.begin(), name.end(), ':', '-');
  const std::string path = std::string(folder) + "/" + name + ".case";
  if (verdict.signature) the_case.header = {fuzz::signature_line(*verdict.signature)};
  const auto text = spec::print_case(the_case);
  if (!text.ok()) return "\n  not kept: " + text.error().message;
  const auto written = write_text(text.value(), path);
  return written.ok() ? "\n  kept: " + path : "\n  not kept: " + written.error().message;
}

}  // namespace

Draw draw_for(const Engine& engine, Draw limits) {
  limits.options = engine.settings().options;
  limits.engine = std::make_shared<const Engine>(engine);
  return limits;
}

Result<DrawnCase> draw_case(const Draw& draw, std::uint64_t number) {
  GRAPHGATE_TRY(const fuzz::Alphabet alphabet, fuzz::parse_alphabet(draw.ops, draw.exclude));
  const Attempts attempts(draw, alphabet, number);
  std::uint64_t attempt = 0;
  std::string refusal;
  if (draw.engine && draw.engine->settings().is_forked) {
    GRAPHGATE_TRY(attempt, attempts.first_taken_apart(refusal));
  } else {
    attempt = attempts.first_taken([](std::uint64_t) {}, refusal);
  }
  if (attempt == draw.attempts) {
    return unsupported("of " + std::to_string(draw.attempts) + " drawn cases none is taken: " +
                       refusal + "; Draw::ops names what is drawn");
  }
  DrawnCase drawn;
  drawn.the_case = *attempts.draw(attempt);
  drawn.origin = std::make_shared<Origin>(
      Origin{draw, fuzz::print_case_id({fuzz::kGeneratorVersion, number, {attempt, {}}}), false,
             attempts.genes(attempt)});
  return drawn;
}

DrawnCase with_other_calls(const DrawnCase& drawn, std::uint64_t number) {
  return with_other(drawn, fuzz::CasePart::kScenario, number);
}

DrawnCase with_other_options(const DrawnCase& drawn, std::uint64_t number) {
  return with_other(drawn, fuzz::CasePart::kOptions, number);
}

Verdict judge(const Engine& engine, const DrawnCase& drawn) {
  const std::optional<fuzz::Signature>& sought = drawn.origin->sought;
  Verdict verdict = drawn.is_reduced && sought ? judge_reduced(engine, drawn.the_case, *sought)
                                               : judge(engine, drawn.the_case);
  if (verdict.kind != Verdict::Kind::kFails) return verdict;
  if (!sought) drawn.origin->sought = verdict.signature;
  verdict.words += origin_words(*drawn.origin) +
                   keep(engine.with_own_options(drawn.the_case), *drawn.origin, verdict);
  return verdict;
}

std::ostream& operator<<(std::ostream& out, const DrawnCase& drawn) {
  const auto text = spec::print_case(drawn.the_case);
  return out << (text.ok() ? text.value() : text.error().message);
}

Reductions::Reductions(DrawnCase drawn) : Reductions(std::move(drawn), fuzz::pass_groups({})) {}

Reductions::Reductions(DrawnCase drawn, std::vector<fuzz::ReductionWalk::Passes> groups)
    : value_(std::move(drawn)),
      walk_(value_.the_case, std::move(groups)),
      reads_unwritten_(fuzz::reads_unwritten(value_.the_case, Reference().get())),
      is_to_be_stated_(fuzz::has_open_type(value_.the_case)) {}

std::optional<Reductions> Reductions::next() {
  const Reference reference;
  if (is_to_be_stated_) {
    is_to_be_stated_ = false;
    CaseFile stated = fuzz::with_stated_types(value_.the_case, reference.get());
    if (!fuzz::has_open_type(stated)) {
      fuzz::ReductionWalk walk = walk_;
      walk.restate(std::move(stated));
      return went_on(std::move(walk));
    }
  }
  while (!walk_.is_at_end()) {
    auto candidate = walk_.propose();
    if (!candidate) continue;
    if (!fuzz::check_reference_takes(*candidate, reference.get()).ok()) continue;
    if (!reads_unwritten_ && fuzz::reads_unwritten(*candidate, reference.get())) continue;
    fuzz::ReductionWalk walk = walk_;
    walk.accept(std::move(*candidate));
    return went_on(std::move(walk));
  }
  return std::nullopt;
}

Reductions Reductions::went_on(fuzz::ReductionWalk walk) const {
  Reductions smaller = *this;
  smaller.walk_ = std::move(walk);
  smaller.value_.the_case = smaller.walk_.the_case();
  smaller.value_.is_reduced = true;
  smaller.is_to_be_stated_ = fuzz::has_open_type(smaller.value_.the_case);
  return smaller;
}

}  // namespace graphgate::kit
