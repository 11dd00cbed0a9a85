// ShadowInstrument: reads, checked against the writes that the plan's order gives them.
#include <algorithm>
#include <utility>

#include "optimized/runtime/host/shadow.h"

namespace graphgate::optimized {
namespace {

ShadowReader reader_of(const BoundStep& step, const ShadowRead& read) {
  const BoundCall& call = step.calls[read.call];
  const std::string& name = call.node->name;
  return {name,
          "step " + std::to_string(step.step) + " '" + name + "' (" + call.node->op + ", " +
              call.row->schema.arguments[read.argument].name + ")",
          step.step};
}

}  // namespace

// The writer of these bytes, by address. `expected` is left open.
std::vector<ShadowMismatch> ShadowInstrument::actual_tags(const ShadowBytes& bytes) const {
  std::vector<ShadowMismatch> out;
  for (const ShadowRange& range : bytes.ranges) {
    actual_.for_each(bytes.absolute(range),
                     [&](std::int64_t begin, std::int64_t end, ShadowTag tag) {
                       out.push_back({{begin - bytes.base, end - bytes.base}, kNoTag, tag});
                     });
  }
  return out;
}

std::vector<ShadowMismatch> ShadowInstrument::mismatches(
    StorageIndex storage, const std::vector<ShadowMismatch>& found) const {
  std::vector<ShadowMismatch> out;
  const auto known = expected_.find(storage);
  for (const ShadowMismatch& part : found) {
    const auto compare = [&](std::int64_t begin, std::int64_t end, ShadowTag tag) {
      if (tag == part.actual && tag != kNoTag) return;
      if (!out.empty() && out.back().range.end == begin && out.back().expected == tag &&
          out.back().actual == part.actual) {
        out.back().range.end = end;
        return;
      }
      out.push_back({{begin, end}, tag, part.actual});
    };
    if (known == expected_.end()) {
      compare(part.range.begin, part.range.end, kNoTag);
    } else {
      known->second.for_each(part.range, compare);
    }
  }
  return out;
}

// Where launches run in the plan's order, what they should find is known now. Where streams
// interleave, it is known when the partition is over. An operand that the op writes, too, counts as
// read if the launch turns out to look at it.
void ShadowInstrument::see_reads(const BoundStep& step, const ShadowAccesses& accesses,
                                 const Launch& launch, Seen& seen) {
  const bool is_in_order = group_[step.step] == 0;
  for (std::size_t r = 0; r < accesses.reads.size(); ++r) {
    const ShadowRead& read = accesses.reads[r];
    std::vector<ShadowMismatch> found = actual_tags(read.bytes);
    if (is_in_order) {
      found = mismatches(read.bytes.storage, found);
      if (found.empty()) continue;
    }
    if (read.is_written) {
      const std::pair key{step.step, r};
      if (!looks_back_.contains(key) && !looks_ahead_.contains(key)) {
        std::vector<ShadowRange> ranges;
        ranges.reserve(found.size());
        for (const ShadowMismatch& part : found) ranges.push_back(read.bytes.absolute(part.range));
        (hangs_on(step, accesses, launch, ranges) ? looks_back_ : looks_ahead_).insert(key);
      }
      if (looks_ahead_.contains(key)) continue;
    }
    if (is_in_order) {
      add(book_.wrong_read(reader_of(step, read), read.bytes.storage, found));
    } else {
      seen.reads.push_back({reader_of(step, read), read.bytes.storage, std::move(found)});
    }
  }
}

// One launch, its place in the plan's order having come.
void ShadowInstrument::settle(const Seen& seen) {
  for (const SeenRead& read : seen.reads) {
    const auto wrong = mismatches(read.storage, read.found);
    if (!wrong.empty()) add(book_.wrong_read(read.reader, read.storage, wrong));
  }
  for (const SeenWrite& write : seen.writes) {
    book_.settle(write.tag);
    ShadowTags& tags = expected_[write.storage];
    for (const ShadowRange& range : write.ranges) tags.set(range, write.tag);
  }
}

void ShadowInstrument::flush() {
  std::ranges::stable_sort(waiting_, [](const Seen& a, const Seen& b) { return a.step < b.step; });
  for (const Seen& seen : std::exchange(waiting_, {})) settle(seen);
}

bool ShadowInstrument::hangs_on(const BoundStep& step, const ShadowAccesses& accesses,
                                const Launch& launch, const std::vector<ShadowRange>& ranges) {
  if (!launch) return false;
  std::vector<std::span<const std::byte>> touched;
  const auto add_span = [&](ShadowRange range) {
    touched.emplace_back(bytes_at(range.begin), static_cast<std::size_t>(range.end - range.begin));
  };
  for (const ShadowWritten& written : accesses.writes) {
    for (const ShadowRange& range : written.bytes.ranges) add_span(written.bytes.absolute(range));
  }
  for (const ShadowRange& range : ranges) add_span(range);
  if (!step.workspace.empty()) touched.emplace_back(step.workspace);
  ShadowImage before;
  before.build(touched);
  ShadowImage first;
  bool hangs = false;
  for (const int fill : {0x00, 0x55}) {
    for (const ShadowRange& range : ranges) {
      std::fill(bytes_at(range.begin), bytes_at(range.end), static_cast<std::byte>(fill));
    }
    try {
      launch.run();
    } catch (const OpError&) {
      hangs = true;
    }
    if (fill == 0) first.build(touched);
    for (const ShadowWritten& written : accesses.writes) {
      for (const ShadowRange& range : written.bytes.ranges) {
        hangs = hangs || first.differs(written.bytes.absolute(range));
      }
    }
    for (const auto& span : touched) {
      const std::int64_t begin = address_of(span.data());
      before.put({begin, begin + std::ssize(span)});
    }
  }
  return hangs;
}

}  // namespace graphgate::optimized
