// ShadowInstrument: writes that nobody declared, found by comparing memory with its mirror.
#include <algorithm>
#include <utility>

#include "optimized/runtime/host/memory.h"
#include "optimized/runtime/host/shadow.h"
#include "optimized/runtime/host/shadow_book.h"
#include "spec/plan_names.h"

namespace graphgate::optimized {
namespace {

// For each byte that a launch touches, so many may be compared.
constexpr std::int64_t kComparedPerTouched = 8;
// Around every operand and result.
constexpr std::int64_t kNeighbourBytes = 64;

bool holds(std::span<const std::byte> span, std::int64_t address) {
  const std::int64_t begin = address_of(span.data());
  return address >= begin && address < begin + std::ssize(span);
}

std::string step_words(const BoundStep& step) {
  const spec::Node& node = *step.calls.front().node;
  return "step " + std::to_string(step.step) + " " + quoted(node.name) + " (" + node.op + ")";
}

}  // namespace

// Close by always; everywhere as often as the launches have paid for.
void ShadowInstrument::check_memory(const BoundStep& step, const ShadowAccesses& accesses) {
  std::vector<ShadowRange> changed;
  const auto look_around = [&](const ShadowBytes& bytes) {
    const ShadowRange hull = bytes.absolute(
        {bytes.ranges.front().begin - kNeighbourBytes, bytes.ranges.back().end + kNeighbourBytes});
    credit_ += kComparedPerTouched * (hull.end - hull.begin);
    if (mirror_.differs(hull)) {
      const auto found = mirror_.differences(hull);
      changed.insert(changed.end(), found.begin(), found.end());
    }
  };
  for (const ShadowRead& read : accesses.reads) look_around(read.bytes);
  for (const ShadowWritten& written : accesses.writes) look_around(written.bytes);
  report_writes(changed, &step);
  check_scratch(step);
  if (credit_ < mirror_.size_bytes()) {
    if (!step.calls.empty()) unchecked_.push_back(step.calls.front().node->name);
    return;
  }
  report_writes(mirror_.differences(), unchecked_.empty() ? &step : nullptr);
  credit_ = 0;
  unchecked_.clear();
}

// The guards of scratch bytes that a recording has allocated: they live as long as it does, which
// is known only while one of its launches runs.
void ShadowInstrument::check_scratch(const BoundStep& step) {
  const auto found = allocated_.find(address_of(step.workspace.data()));
  if (step.workspace.empty() || found == allocated_.end() || step.calls.empty()) return;
  const std::byte* const guards[] = {step.workspace.data() - kGuardBytes,
                                     step.workspace.data() + found->second};
  for (const std::byte* guard : guards) {
    const bool is_whole =
        std::all_of(guard, guard + kGuardBytes, [](std::byte b) { return b == kGuardFill; });
    if (is_whole) continue;
    spec::Finding finding{.rule = "S4.write-outside",
                          .message = step_words(step) + " writes " +
                                     (guard == guards[0] ? "before" : "behind") + " its " +
                                     std::to_string(found->second) + " scratch bytes",
                          .nodes = {step.calls.front().node->name}};
    add(std::move(finding));
  }
}

// `step` is null where it may have been any of the launches that were not looked at one by one.
void ShadowInstrument::report_writes(const std::vector<ShadowRange>& ranges,
                                     const BoundStep* step) {
  for (const ShadowRange& range : ranges) {
    add(undeclared_write(range, step));
    mirror_.take(range);
    twin_.take(range);
  }
}

// The buffer that has a byte now: the tenant that the tags know, or the first that lies there.
std::optional<StorageIndex> ShadowInstrument::buffer_at(std::int64_t address) const {
  std::optional<StorageIndex> tenant;
  actual_.for_each({address, address + 1}, [&](std::int64_t, std::int64_t, ShadowTag tag) {
    if (tag == kNoTag || book_.entry(tag).run != book_.run()) return;
    if (book_.entry(tag).storage != kNoStorage) tenant = book_.entry(tag).storage;
  });
  if (tenant) return tenant;
  for (std::uint32_t b = 0; b < memory_.buffers.size(); ++b) {
    if (holds(memory_.buffers[b], address)) return b;
  }
  return {};
}

spec::Finding ShadowInstrument::undeclared_write(ShadowRange range, const BoundStep* step) const {
  spec::Finding finding;
  std::string who = "something outside of the launches";
  if (step && !step->calls.empty()) {
    who = step_words(*step);
    for (const BoundCall& call : step->calls) finding.nodes.push_back(call.node->name);
  } else if (!unchecked_.empty()) {
    who = unchecked_.size() == 1 ? quoted(unchecked_.front())
                                 : "one of the launches from " + quoted(unchecked_.front()) +
                                       " to " + quoted(unchecked_.back());
    finding.nodes = unchecked_;
  }
  const spec::Plan& plan = *memory_.plan;
  const auto owner = buffer_at(range.begin);
  if (!owner) {
    finding.rule = "S4.write-outside";
    finding.message = who + " changes " + std::to_string(range.end - range.begin) +
                      " bytes that belong to no buffer";
    for (std::size_t p = 0; p < memory_.pools.size(); ++p) {
      const std::int64_t at = range.begin - address_of(memory_.pools[p].data());
      const std::int64_t size = std::ssize(memory_.pools[p]);
      if (memory_.pools[p].empty() || at < -kGuardBytes || at >= size + kGuardBytes) continue;
      const ShadowRange place{at, at + range.end - range.begin};
      finding.message += ": " + print_range(place) + " of pool " + spec::name_of(plan.pools[p]) +
                         ", which has " + std::to_string(size);
      finding.ranges.push_back({plan.pools[p].name, place.begin, place.end});
      break;
    }
    return finding;
  }
  const bool is_known = *owner < plan.buffers.size();
  const auto pool_kind =
      is_known ? plan.pools[plan.buffers[*owner].pool.index].kind : spec::PoolKind::kHeap;
  const bool is_read_only = !written_.contains(*owner) && (pool_kind == spec::PoolKind::kState ||
                                                           pool_kind == spec::PoolKind::kCaller);
  bool is_operand = step == nullptr;
  for (std::size_t c = 0; step && c < step->calls.size(); ++c) {
    const KernelCall call(*step->calls[c].row, step->calls[c].arguments);
    for (const Tensor* tensor : call.all_tensors()) is_operand |= tensor->storage == *owner;
  }
  finding.rule = is_read_only ? "S8.read-only-written"
                 : is_operand ? "S7.undeclared-write"
                              : "S4.write-outside";
  const std::int64_t base = is_known && !memory_.buffers[*owner].empty()
                                ? address_of(memory_.buffers[*owner].data())
                                : range.begin;
  const ShadowRange place{range.begin - base, range.end - base};
  finding.message = who + " changes bytes " + print_range(place) + " of " +
                    book_.buffer_name(*owner) +
                    (is_read_only ? ", which no step writes"
                     : is_operand ? ", which it does not say that it writes"
                                  : ", which it was not given");
  finding.buffers.push_back(book_.plain_name(*owner));
  book_.add_ranges(*owner, place, finding.ranges);
  return finding;
}

}  // namespace graphgate::optimized
