// One loaded program: finds or makes the plan that serves a call, runs it, hands out what it made.
//
//   inputs ─ bind symbols ─ dispatch ─ key ─> plan (kept, cached, or compiled) ─ copy in ─ run ─
//   out
//                             │
//                             └ padded, where it is legal and a larger size has a plan
//
// Plans are kept by their key (input_shapes.h, dispatch.h), the most recently used first, each with
// the memory it runs in; state is shared by all of them. What a call returns are copies; hold() is
// for callers who want an output where it lies.
//
// executor.cpp makes a session per program. Exceptions end here.
#pragma once

#include <list>
#include <set>

#include "optimized/analysis/padding.h"
#include "optimized/optimized.h"
#include "optimized/runtime/dispatch.h"
#include "optimized/runtime/host/host_program.h"
#include "optimized/runtime/input_shapes.h"
#include "optimized/runtime/results.h"
#include "optimized/runtime/state_store.h"

namespace graphgate::optimized {

// The watcher of a session's runs; null: none.
struct Watcher {
  std::shared_ptr<Instrument> instrument;
  bool is_as_unwatched = false;  // what was prepared is what runs without it
};

class Session final : public spec::LoadedProgram {
 public:
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // `prepared` is what passes made of the program, which outlives the session. `shared_pool` is
  // null where every plan has a pool of its own. kBadInput for a static input or a padded symbol
  // that the program lacks; what the plan store refuses.
  static Result<std::unique_ptr<Session>> make(const spec::Program& program, spec::Graph prepared,
                                               const Options& options,
                                               std::shared_ptr<RunPool> shared_pool,
                                               Watcher watcher = {});

  Result<spec::CallResult> call(std::span<const spec::InputValue> inputs) override;
  Result<spec::CallResult> call_with(std::span<const spec::InputValue> inputs,
                                     const spec::CallOptions& options) override;
  Result<std::shared_ptr<spec::HeldOutput>> hold(std::size_t index) override;
  Result<void> set_state(std::string_view target, const spec::HostTensor& value,
                         bool rebind) override;
  // Executor::sleep and wake, for this program.
  void sleep(const spec::SleepRequest& asked);
  void wake(std::optional<spec::SleepPart> part);
  // Stands in `sessions` as long as it lives.
  void join(std::shared_ptr<std::set<Session*>> sessions);
  [[nodiscard]] std::shared_ptr<const spec::Plan> plan() const override;
  [[nodiscard]] bool is_as_unwatched() const override { return is_as_unwatched_; }

  // Partitions recorded so far, by all plans that are kept, those recorded anew included.
  [[nodiscard]] std::uint64_t recordings() const;

 private:
  // What one call asks for.
  struct Request {
    std::vector<spec::InputValue> relabeled;  // under a deviation; else empty
    std::span<const spec::InputValue> inputs;
    spec::SymbolValues symbols;       // of the call
    spec::SymbolValues plan_symbols;  // of the plan
    Dispatch dispatch;
    InputShapes shapes;  // of the plan
    std::optional<spec::PlanPadding> padding;
    PlanKey key;
  };
  struct Compiled {
    PlanKey key;
    std::shared_ptr<HostProgram> program;
    bool is_warm = false;
  };
  struct LastCall {
    std::shared_ptr<HostProgram> program;
    std::uint64_t run = 0;
    std::shared_ptr<const ExactShapes> exact;
    std::vector<spec::OutputValue> outputs;
  };
  // Where an output that was handed out lay; noted under a deviation only.
  struct OwnOutput {
    std::weak_ptr<spec::HostStorage> storage;
    std::shared_ptr<HostMemory> memory;
    std::span<const std::byte> bytes;
  };

  Session(const spec::Program& program, spec::Graph prepared, const Options& options,
          std::shared_ptr<RunPool> shared_pool, Watcher watcher);
  Result<void> resolve_static_inputs();
  [[nodiscard]] Result<void> check_awake() const;

  // session.cpp: from a call to a plan.
  Result<spec::CallResult> try_call(std::span<const spec::InputValue> inputs,
                                    const spec::CallOptions& options);
  Result<Request> request_of(std::span<const spec::InputValue> inputs,
                             const spec::CallOptions& options, bool may_pad);
  [[nodiscard]] std::optional<std::int64_t> size_of(const Request& request) const;
  Result<void> add_padding(Request& request);
  Result<Compiled*> find_or_compile(const Request& request);
  Result<void> check_cuts(const Request& request);
  Result<spec::Plan> make_plan(const Request& request);
  Result<const spec::Graph*> prepared_for(const std::optional<SizeRange>& range);

  // session_run.cpp: running it.
  Result<spec::CallResult> run(Compiled& compiled, const Request& request);
  Result<void> check_static_inputs(std::span<const spec::InputValue> inputs);
  [[nodiscard]] std::vector<InputSource> sources_of(std::span<const spec::InputValue> inputs) const;
  void warm_up(Compiled& compiled, std::span<const InputSource> sources);
  Result<std::shared_ptr<const ExactShapes>> exact_shapes_of(const Request& request);
  spec::CallResult collect(const HostProgram& program, std::span<const spec::InputValue> inputs,
                           const ExactShapes* exact) const;
  void remember_outputs(const LastCall& last);
  void drain_instrument(const HostProgram& program, spec::CallResult& result) const;

  const spec::Program& program_;
  const Options options_;
  const spec::Graph prepared_;
  std::map<std::pair<std::int64_t, std::int64_t>, spec::Graph> prepared_by_range_;
  std::shared_ptr<RunPool> shared_pool_;
  const std::shared_ptr<Instrument> instrument_;
  const bool is_as_unwatched_;
  std::unique_ptr<PlanCache> cache_;
  std::optional<std::string> symbol_;  // the padded one
  PaddingProof proof_;
  std::set<std::size_t> static_inputs_;
  std::map<std::size_t, std::shared_ptr<spec::HostStorage>> static_storages_;
  std::map<std::size_t, const std::byte*> static_addresses_;
  StateStore state_;
  std::list<Compiled> compiled_;
  std::map<PlanKey, std::shared_ptr<const ExactShapes>> exact_;
  LastCall last_;
  std::uint64_t calls_begun_ = 0;
  const bool trusts_places_;  // own outputs are taken to lie where they lay
  std::vector<OwnOutput> own_outputs_;
  std::set<spec::SleepPart> asleep_;  // what has not come back
  std::shared_ptr<std::set<Session*>> sessions_;
};

}  // namespace graphgate::optimized
