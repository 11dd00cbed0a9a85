// Cases that the generator draws for an engine, and the smaller ones that the reducer makes of
// them.
//
// A number decides a case, the same on every platform: g12:NUMBER:ATTEMPT is its id, and `graphgate
// replay` draws it again. The first attempt whose case the engine takes is the one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/result.h"
#include "fuzz/generate/genes.h"
#include "fuzz/reduce/reduction_walk.h"
#include "fuzz/reduce/signature.h"
#include "spec/case_file.h"
#include "tools/kit/engine.h"
#include "tools/kit/verdict.h"

namespace graphgate::kit {

// What is drawn.
struct Draw {
  // As `graphgate fuzz --ops` and `--exclude` take them: names of ops, families and traits with
  // commas between them, weights and chances as NAME=5.
  std::string ops = {};
  std::string exclude = {};
  // Cases with values of other dtypes are not drawn. Empty: all are.
  std::vector<spec::DType> dtypes = {};
  // The options (docs/options.md) that cases have, as far as they are drawn. Empty: none.
  std::vector<std::string> options = {};
  // Cases with programs that it refuses to load are not drawn. Null: all are.
  std::shared_ptr<const Engine> engine = nullptr;
  std::uint64_t attempts = 2000;  // until a case is taken
};

// Returns a draw of what the engine takes, over these limits: its options, and programs that it
// loads.
[[nodiscard]] Draw draw_for(const Engine& engine, Draw limits = {});

// What a drawn case and those that are made of it have in common.
struct Origin {
  Draw draw;
  std::string id;                  // "g12:4711:3"
  bool has_redrawn_parts = false;  // beside what the id stands for
  fuzz::GeneVector genes;
  // The failure of the first one of them that failed, which is what smaller ones are judged for.
  // judge() sets it.
  std::optional<fuzz::Signature> sought = {};
};

struct DrawnCase {
  spec::CaseFile the_case;
  std::shared_ptr<Origin> origin;
  bool is_reduced = false;
};

// Returns the case of this number. kBadInput for a name that there is not; kUnsupported, with the
// engine's last words, where none of the attempts is taken.
[[nodiscard]] Result<DrawnCase> draw_case(const Draw& draw, std::uint64_t number);

// Returns a drawn case with other calls of the same programs, or with other options. Of a reduced
// one itself: its programs are not drawn.
[[nodiscard]] DrawnCase with_other_calls(const DrawnCase& drawn, std::uint64_t number);
[[nodiscard]] DrawnCase with_other_options(const DrawnCase& drawn, std::uint64_t number);

// Judges the engine on a drawn case. Of cases that are made of one another all are judged for the
// failure that the first one showed: another one does not make them fail. A failure's words tell
// where the case comes from, and where it is kept: in the folder that GRAPHGATE_CASES names.
[[nodiscard]] Verdict judge(const Engine& engine, const DrawnCase& drawn);

// Writes the case's text.
std::ostream& operator<<(std::ostream& out, const DrawnCase& drawn);

// The smaller cases to try in place of one, in the reducer's order (reduction_walk.h), as far as
// the reference runs them and they read nothing unwritten that the first one did not. Copies go on
// as their original would.
class Reductions {
 public:
  explicit Reductions(DrawnCase drawn);
  // Tries these passes alone.
  Reductions(DrawnCase drawn, std::vector<fuzz::ReductionWalk::Passes> groups);

  [[nodiscard]] const DrawnCase& value() const { return value_; }
  // Returns the next one, with what is to be tried in its place; nothing at the end.
  [[nodiscard]] std::optional<Reductions> next();

 private:
  [[nodiscard]] Reductions went_on(fuzz::ReductionWalk walk) const;

  DrawnCase value_;
  fuzz::ReductionWalk walk_;
  bool reads_unwritten_ = false;
  bool is_to_be_stated_ = false;  // types that are left open are stated first
};

}  // namespace graphgate::kit
