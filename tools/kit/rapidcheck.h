// RapidCheck's side of the kit: generators whose values shrink as our reducer reduces, and the
// property that an engine conforms.
//
//   RC_GTEST_PROP(MyExecutor, Conforms, (const DrawnCase& drawn)) {
//     assert_conforms(kEngine, drawn);
//   }
//
// RapidCheck's random numbers decide what is drawn, its sizes do not: cases of all sizes come from
// the first on. The project that includes this links rapidcheck.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

#include "fuzz/reduce/reduction_pass.h"
#include "spec/configuration.h"
#include "spec/program.h"
#include "tools/kit/drawn_case.h"
#include "tools/kit/verdict.h"

namespace graphgate::kit {

namespace detail {

// A case, and below it what is tried in its place: in the order of the reducer, which goes on where
// it was when a smaller case is taken.
struct ReductionTree {
  Reductions at;

  struct Below {
    Reductions at;
    rc::Maybe<rc::Shrinkable<DrawnCase>> operator()() {
      auto smaller = at.next();
      if (!smaller) return rc::Nothing;
      return rc::makeShrinkable<ReductionTree>(ReductionTree{std::move(*smaller)});
    }
  };
  [[nodiscard]] DrawnCase value() const { return at.value(); }
  [[nodiscard]] rc::Seq<rc::Shrinkable<DrawnCase>> shrinks() const {
    return rc::makeSeq<Below>(Below{at});
  }
};

inline std::uint64_t number_of(rc::Random random) { return random.next() >> 32U; }

}  // namespace detail

// Generates cases: programs, a scenario, options, data. Fails where the draw names what there is
// not, or nothing of what it names is taken.
inline rc::Gen<DrawnCase> cases(Draw draw = {}) {
  return [draw = std::move(draw)](const rc::Random& random, int /*size*/) {
    auto drawn = draw_case(draw, detail::number_of(random));
    if (!drawn.ok()) throw rc::GenerationFailure(drawn.error().message);
    return rc::makeShrinkable<detail::ReductionTree>(
        detail::ReductionTree{Reductions(std::move(drawn).value())});
  };
}

// Generates cases that the engine takes.
inline rc::Gen<DrawnCase> cases_for(const Engine& engine, Draw limits = {}) {
  return cases(draw_for(engine, std::move(limits)));
}

struct ProgramWithOps {
  spec::Program program;
  std::vector<std::string> ops;  // rows of custom ops (op_table.h)
};
// Generates programs. Their parameters and buffers have no tensors: case_of() draws them.
inline rc::Gen<ProgramWithOps> programs(Draw draw = {}) {
  if (!draw.exclude.empty()) draw.exclude += ",";
  draw.exclude += "several-programs";
  return rc::gen::map(cases(std::move(draw)), [](DrawnCase&& drawn) {
    return ProgramWithOps{std::move(drawn.the_case.programs.front()),
                          std::move(drawn.the_case.ops)};
  });
}

// Generates scenarios for the programs of a case: cases with these programs and other calls, which
// shrink by their calls, sizes and data alone.
inline rc::Gen<DrawnCase> scenarios(DrawnCase of) {
  return [of = std::move(of)](const rc::Random& random, int /*size*/) {
    return rc::makeShrinkable<detail::ReductionTree>(detail::ReductionTree{
        Reductions(with_other_calls(of, detail::number_of(random)),
                   {fuzz::step_passes(), fuzz::symbol_passes(), fuzz::data_passes()})});
  };
}

// Generates options for the programs of a case, among those that its draw has. They shrink one by
// one.
inline rc::Gen<spec::Configuration> configurations(DrawnCase of) {
  const rc::Gen<DrawnCase> drawn = [of = std::move(of)](const rc::Random& random, int /*size*/) {
    return rc::makeShrinkable<detail::ReductionTree>(detail::ReductionTree{
        Reductions(with_other_options(of, detail::number_of(random)), {fuzz::option_passes({})})});
  };
  return rc::gen::map(drawn, [](DrawnCase&& one) { return std::move(one.the_case.options); });
}

// Fails the property with the judges' words where the engine does not conform, or the case could
// not be judged. Discards a case that tells nothing of the engine.
inline void assert_conforms(const Engine& engine, const DrawnCase& drawn) {
  const Verdict verdict = judge(engine, drawn);
  if (verdict.kind == Verdict::Kind::kUndecided) RC_DISCARD(verdict.words);
  if (verdict.kind != Verdict::Kind::kConforms) RC_FAIL(verdict.words);
}

}  // namespace graphgate::kit

template <>
struct rc::Arbitrary<graphgate::kit::DrawnCase> {
  static rc::Gen<graphgate::kit::DrawnCase> arbitrary() { return graphgate::kit::cases(); }
};
