// What an executor that compiles once owes its caller, call by call.
//
// Asked for by the option "wrapper": split and partition refuse a call that breaks what the first
// one fixed, stock compiles again and counts it. The facts are taken from what calls pass, and from
// what programs declare; nothing is asked of the executor.
//
//   fixed by the first call of a program, until a restart: devices, numbers that no symbol stands
//   for, which inputs share a storage; and layouts, where "guards" is all
//
// run_script keeps one beside the calls; run_end.h says what came of it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/run/executor_source.h"
#include "spec/plan.h"
#include "spec/program.h"

namespace graphgate::conformance {

class CompileOnce {
 public:
  // Of an executor with these options. Without "wrapper", and in its mode none, every call is
  // served.
  explicit CompileOnce(const Configuration& options);

  enum class Due : std::uint8_t { kService, kRefusal, kEither };
  struct Claim {
    Due due = Due::kService;
    std::string why;  // the first fact that the call breaks
  };
  // Of a call that has not run yet.
  [[nodiscard]] Claim claim_on(const spec::Program& program,
                               const std::vector<spec::InputValue>& inputs) const;

  // The call ran, and came to `result`. Says what `counts` of the program that ran it have wrong;
  // "" for nothing, and for an executor that does not count.
  [[nodiscard]] std::string served(const spec::Program& program,
                                   const std::vector<spec::InputValue>& inputs,
                                   const std::map<std::string, std::int64_t>& counts,
                                   const spec::CallResult& result = {});

 private:
  // What one input of a call shows. Of a tensor, where the program says how it lies.
  struct Fact {
    std::string device;
    std::string number;
    std::size_t shares_with = 0;
    bool is_tensor = false;
    bool is_as_declared = true;
    bool has_elements = true;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    std::int64_t offset = 0;
    std::size_t storage_bytes = 0;
  };
  using Facts = std::vector<Fact>;

  [[nodiscard]] static Facts facts_of(const spec::Program& program,
                                      const std::vector<spec::InputValue>& inputs);
  // `returned`: places of inputs that outputs share a storage with.
  [[nodiscard]] Claim difference(const Facts& fixed, const Facts& call,
                                 const std::set<std::size_t>& returned) const;

  enum class Mode : std::uint8_t { kOff, kStock, kRefusing };
  Mode mode_ = Mode::kOff;
  bool guards_layouts_ = true;
  std::map<const spec::Program*, std::vector<Facts>> compiled_;     // several in mode stock
  std::int64_t recompiles_ = 0;                                     // of all programs
  std::map<const spec::Program*, std::set<std::size_t>> returned_;  // places of inputs
  std::map<const spec::Program*, std::int64_t> completions_;
  bool can_count_ = true;
};

// Whether such an executor copied an input of this call into the layout that it had compiled, which
// the plan shows, since guards of layouts are dropped: the plan is one for the copy.
[[nodiscard]] bool is_relaid(const Configuration& options, const spec::Program& program,
                             const spec::Plan& plan, const std::vector<spec::InputValue>& inputs);

}  // namespace graphgate::conformance
