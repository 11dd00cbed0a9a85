#include "optimized/runtime/host/shadow.h"

#include <algorithm>
#include <utility>

#include "optimized/runtime/host/memory.h"

namespace graphgate::optimized {
namespace {

constexpr std::size_t kMostEntries = std::size_t{1} << 20U;
constexpr std::size_t kMostFindings = 64;  // of one call

}  // namespace

void ShadowInstrument::begin_run(const RunMemory& memory) {
  memory_ = memory;
  expected_.clear();
  waiting_.clear();
  open_group_ = 0;
  if (book_.size() > kMostEntries) {
    book_.clear();
    actual_.clear();
  }
  book_.begin_run(*memory.plan);
  if (looked_at_ != memory.plan) {
    looked_at_ = memory.plan;
    looks_back_.clear();
    looks_ahead_.clear();
    written_.clear();
  }
  find_stream_partitions();
  load_inputs();
  std::vector<std::span<const std::byte>> spans;
  for (const auto* list : {&memory_.pools, &memory_.buffers, &memory_.guards}) {
    spans.insert(spans.end(), list->begin(), list->end());
  }
  mirror_.build(std::move(spans));
  credit_ = 0;
  unchecked_.clear();
  begin_twin();
  is_running_ = true;
}

// Steps of a captured partition with several streams run in an order of their own.
void ShadowInstrument::find_stream_partitions() {
  const spec::Plan& plan = *memory_.plan;
  group_.assign(plan.steps.size(), 0);
  std::uint32_t next = 0;
  for (const spec::PlanBlock& block : plan.blocks) {
    for (const spec::PlanPartition& partition : block.partitions) {
      ++next;
      const auto steps =
          std::span(plan.steps)
              .subspan(partition.begin_step, partition.end_step - partition.begin_step);
      const bool has_streams =
          std::ranges::any_of(steps, [](const spec::PlanStep& s) { return s.stream != 0; });
      if (!partition.captured || !has_streams) continue;
      std::fill(group_.begin() + partition.begin_step, group_.begin() + partition.end_step, next);
    }
  }
}

// Inputs and state are there when the run begins; inputs were copied in.
void ShadowInstrument::load_inputs() {
  const spec::Plan& plan = *memory_.plan;
  std::vector<bool> is_loaded(plan.buffers.size(), false);
  for (const spec::PlanInput& input : plan.inputs) {
    if (!input.constant) is_loaded[plan.values[input.value.index].buffer->index] = true;
  }
  for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
    const bool is_state = plan.pools[plan.buffers[b].pool.index].kind == spec::PoolKind::kState;
    const std::span<std::byte> bytes = memory_.buffers[b];
    if ((!is_loaded[b] && !is_state) || bytes.empty()) continue;
    const ShadowTag tag = book_.write(ShadowKind::kLoaded, 0, b, "");
    const std::int64_t begin = address_of(bytes.data());
    actual_.set({begin, begin + std::ssize(bytes)}, tag);
    expected_[b].set({0, std::ssize(bytes)}, tag);
  }
}

bool ShadowInstrument::is_fused(std::uint32_t step) const {
  return !memory_.plan->steps[step].body.empty();
}

// Of a recording, and of the run: only the latter is compared as a whole.
void ShadowInstrument::allocate(std::span<const std::byte> bytes) {
  const std::int64_t begin = address_of(bytes.data());
  allocated_[begin] = std::ssize(bytes);
  actual_.set({begin, begin + std::ssize(bytes)}, kNoTag);
  if (!is_running_) return;
  constexpr auto kGuard = static_cast<std::size_t>(kGuardBytes);
  mirror_.add(std::span(bytes.data() - kGuardBytes, bytes.size() + 2 * kGuard));
  if (!twin_.empty()) twin_.add(bytes);
}

namespace {

// What a launch does to memory, and must not do: the same each time. `of` is the step that it
// points into, so that a copy of the step finds it out for itself.
struct ShadowNotes {
  const BoundStep* of = nullptr;
  ShadowAccesses accesses;
  std::vector<ShadowClash> clashes;
};

const ShadowNotes& notes_of(const BoundStep& step, bool is_fused) {
  const auto* known = static_cast<const ShadowNotes*>(step.notes.get());
  if (known && known->of == &step) return *known;
  auto made = std::make_shared<ShadowNotes>(ShadowNotes{&step, shadow_accesses(step), {}});
  made->clashes = shadow_clashes(step, made->accesses, is_fused);
  step.notes = made;
  return *made;
}

}  // namespace

void ShadowInstrument::launch(const BoundStep& step, const Launch& launch) {
  const ShadowNotes& notes = notes_of(step, is_fused(step.step));
  const ShadowAccesses& accesses = notes.accesses;
  const std::uint32_t group = group_[step.step];
  // A partition in a loop begins again.
  const bool runs_again =
      std::ranges::any_of(waiting_, [&](const Seen& other) { return other.step == step.step; });
  if (group != open_group_ || runs_again) flush();
  open_group_ = group;
  Seen seen;
  seen.step = step.step;
  see_reads(step, accesses, launch, seen);
  for (const ShadowClash& clash : notes.clashes) add(book_.clash(step, clash));
  try {
    launch_twin(step, accesses, launch);
    if (launch.run) launch.run();
  } catch (const OpError& error) {
    if (twin_ran_ && !pad_refused_) refused_for_pad(step, error.what());
    flush();
    if (findings_.empty()) throw;
    throw OpError(std::string(error.what()) + " (" + findings_.front().rule + ": " +
                  findings_.front().message + ")");
  }
  note_writes(step, accesses, !launch, seen);
  if (group == 0) {
    settle(seen);
  } else {
    waiting_.push_back(std::move(seen));
  }
  after_twin(step, accesses);
  check_memory(step, accesses);
}

void ShadowInstrument::note_writes(const BoundStep& step, const ShadowAccesses& accesses,
                                   bool is_open, Seen& seen) {
  if (!step.workspace.empty()) {
    const std::int64_t begin = address_of(step.workspace.data());
    const ShadowTag tag = book_.write(ShadowKind::kScratch, step.step, kNoStorage,
                                      step.calls.empty() ? "" : step.calls.front().node->name);
    const ShadowRange range{begin, begin + std::ssize(step.workspace)};
    actual_.set(range, tag);
    mirror_.take(range);
  }
  for (const ShadowWritten& written : accesses.writes) {
    const ShadowKind kind = is_open ? ShadowKind::kOpen : ShadowKind::kMade;
    const ShadowTag tag =
        book_.write(kind, step.step, written.bytes.storage, step.calls[written.call].node->name);
    for (const ShadowRange& range : written.bytes.ranges) {
      actual_.set(written.bytes.absolute(range), tag);
      mirror_.take(written.bytes.absolute(range));
    }
    written_.insert(written.bytes.storage);
    seen.writes.push_back({written.bytes.storage, written.bytes.ranges, tag});
  }
}

void ShadowInstrument::end_run() {
  flush();
  report_writes(mirror_.differences(), nullptr);
  mirror_.clear();  // what the heap of the run holds may go
  is_running_ = false;
}

void ShadowInstrument::undo_runs(std::uint32_t /*runs*/) {}

void ShadowInstrument::replace_state(std::span<const std::byte> /*before*/,
                                     std::span<const std::byte> /*now*/) {}

// State counts as there when a run begins, wherever it lies then.
void ShadowInstrument::move_memory(std::span<const std::byte> /*before*/,
                                   std::span<const std::byte> /*now*/, bool /*is_lost*/) {}

void ShadowInstrument::collect(std::string_view port, const Tensor& tensor) {
  if (tensor.bytes == nullptr) return;
  const ShadowBytes bytes{tensor.storage, address_of(tensor.bytes), byte_runs(tensor)};
  const auto wrong = mismatches(tensor.storage, actual_tags(bytes));
  if (!wrong.empty()) {
    add(book_.wrong_read({"", std::string(port), 0}, tensor.storage, wrong));
  }
  check_pads(port, tensor);
}

void ShadowInstrument::add(spec::Finding finding) {
  if (findings_.size() >= kMostFindings || !told_.insert(finding.message).second) return;
  findings_.push_back(std::move(finding));
}

std::vector<spec::Finding> ShadowInstrument::drain_findings() {
  twin_.clear();
  told_.clear();
  return std::exchange(findings_, {});
}

}  // namespace graphgate::optimized
