#include "optimized/runtime/host/shadow_book.h"

#include <algorithm>

#include "optimized/runtime/host/shadow_image.h"
#include "spec/plan_names.h"

namespace graphgate::optimized {
namespace {

constexpr std::size_t kRangesNamed = 4;

// The rule by which a mismatch is wrong.
enum class Fault : std::uint8_t { kUnwritten, kStale, kOtherVersion };

Fault fault_of(const ShadowBook& book, StorageIndex storage, const ShadowMismatch& mismatch) {
  if (mismatch.expected == kNoTag) return Fault::kUnwritten;
  if (mismatch.actual == kNoTag) return Fault::kOtherVersion;
  const ShadowEntry& actual = book.entry(mismatch.actual);
  const bool is_own = actual.storage == storage && actual.run == book.run();
  // Tags rise with time: the expected write has come behind the one that is seen.
  const bool is_early = mismatch.actual < mismatch.expected;
  return is_own || is_early ? Fault::kOtherVersion : Fault::kStale;
}

constexpr std::string_view kRules[] = {"S1.unwritten-read", "S2.stale-read", "S3.old-version"};

}  // namespace

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::string print_range(ShadowRange range) {
  return "[" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ")";
}

void ShadowBook::begin_run(const spec::Plan& plan) {
  plan_ = &plan;
  ++run_;
  versions_.clear();
}

void ShadowBook::clear() { entries_.resize(1); }

std::uint32_t ShadowBook::intern(std::string_view name) {
  const auto found = name_index_.find(name);
  if (found != name_index_.end()) return found->second;
  names_.emplace_back(name);
  const auto index = static_cast<std::uint32_t>(names_.size() - 1);
  name_index_.emplace(names_.back(), index);
  return index;
}

ShadowTag ShadowBook::write(ShadowKind kind, std::uint32_t step, StorageIndex storage,
                            std::string_view node) {
  entries_.push_back({kind, run_, step, storage, 0, intern(node), intern(plain_name(storage))});
  return static_cast<ShadowTag>(entries_.size() - 1);
}

void ShadowBook::settle(ShadowTag tag) {
  ShadowEntry& entry = entries_[tag];
  if (entry.kind != ShadowKind::kLoaded) entry.version = ++versions_[entry.storage];
}

std::string ShadowBook::plain_name(StorageIndex storage) const {
  if (storage == kNoStorage) return "scratch";
  if (storage < plan_->buffers.size()) return plan_->buffers[storage].name;
  return "heap" + std::to_string(storage - plan_->buffers.size());
}

std::string ShadowBook::buffer_name(StorageIndex storage) const {
  return spec::print_sigil_name('$', plain_name(storage));
}

std::string ShadowBook::maker(ShadowTag tag) const {
  if (tag == kNoTag) return "nothing";
  const ShadowEntry& entry = entries_[tag];
  const bool is_now = entry.run == run_;
  if (entry.kind == ShadowKind::kLoaded) {
    return is_now ? "what the run began with"
                  : "what run " + std::to_string(entry.run) + " began with";
  }
  std::string words = quoted(names_[entry.node]);
  if (entry.kind == ShadowKind::kScratch) words = "scratch of " + words;
  return is_now ? "step " + std::to_string(entry.step) + " " + words
                : words + " of run " + std::to_string(entry.run);
}

std::string ShadowBook::buffer_of(ShadowTag tag) const {
  return spec::print_sigil_name('$', names_[entries_[tag].buffer]);
}

void ShadowBook::add_ranges(StorageIndex storage, ShadowRange range,
                            std::vector<spec::FindingRange>& out) const {
  if (storage < plan_->buffers.size()) {
    const spec::PlanBuffer& buffer = plan_->buffers[storage];
    const spec::PlanPool& pool = plan_->pools[buffer.pool.index];
    if (pool.kind != spec::PoolKind::kHeap) {
      out.push_back(
          {pool.name, buffer.offset_bytes + range.begin, buffer.offset_bytes + range.end});
    }
    out.push_back({buffer.name, range.begin, range.end});
  } else {
    out.push_back({plain_name(storage), range.begin, range.end});
  }
}

spec::Finding ShadowBook::wrong_read(const ShadowReader& reader, StorageIndex storage,
                                     const std::vector<ShadowMismatch>& mismatches) const {
  std::vector<ShadowMismatch> worst;
  const Fault fault = fault_of(
      *this, storage, *std::ranges::min_element(mismatches, [&](const auto& a, const auto& b) {
        return fault_of(*this, storage, a) < fault_of(*this, storage, b);
      }));
  for (const ShadowMismatch& mismatch : mismatches) {
    if (fault_of(*this, storage, mismatch) == fault) worst.push_back(mismatch);
  }
  const ShadowMismatch& first = worst.front();
  const std::string buffer = buffer_name(storage);
  spec::Finding finding;
  finding.rule = kRules[static_cast<std::size_t>(fault)];
  std::string& text = finding.message;
  text = reader.words + " reads bytes " + print_range(first.range) + " of " + buffer;
  if (fault == Fault::kUnwritten) {
    text += ", which nothing has written in this run";
    if (first.actual != kNoTag) {
      text += "; they hold what is left of " + maker(first.actual) + " (" +
              buffer_of(first.actual) + ")";
    }
  } else if (fault == Fault::kStale) {
    text += ", which " + maker(first.actual) + " has overwritten for " + buffer_of(first.actual) +
            "; it expects what " + maker(first.expected) + " made";
    finding.drawing = drawing(reader, storage, first);
  } else {
    text += std::string(first.actual < first.expected ? " too early" : " too late") +
            ": it finds what " + maker(first.actual) + " made, and expects " +
            maker(first.expected);
  }
  if (worst.size() > 1) text += " (and " + std::to_string(worst.size() - 1) + " ranges more)";
  if (!reader.node.empty()) finding.nodes.push_back(reader.node);
  finding.buffers.push_back(plain_name(storage));
  for (const ShadowTag tag : {first.actual, first.expected}) {
    if (tag == kNoTag || entries_[tag].kind == ShadowKind::kLoaded) continue;
    finding.nodes.push_back(names_[entries_[tag].node]);
    const std::string& other = names_[entries_[tag].buffer];
    if (other != finding.buffers.front() && finding.buffers.size() < 2)
      finding.buffers.push_back(other);
  }
  for (std::size_t i = 0; i < worst.size() && i < kRangesNamed; ++i) {
    add_ranges(storage, worst[i].range, finding.ranges);
  }
  return finding;
}

// Offsets down, time to the right: whose the bytes are behind each of the three steps.
std::string ShadowBook::drawing(const ShadowReader& reader, StorageIndex storage,
                                const ShadowMismatch& mismatch) const {
  const ShadowEntry& by = entries_[mismatch.actual];
  const ShadowEntry& before = entries_[mismatch.expected];
  const std::int64_t size =
      storage < plan_->buffers.size() ? plan_->buffers[storage].size_bytes : mismatch.range.end;
  const std::string own = buffer_name(storage);
  const std::string other = buffer_of(mismatch.actual);
  const std::vector<std::string> heads = {
      before.kind == ShadowKind::kLoaded ? "begin" : names_[before.node], names_[by.node],
      reader.node.empty() ? reader.words : reader.node};
  std::size_t width = 0;
  for (const std::string& head : heads) width = std::max(width, head.size() + 2);
  width = std::max({width, own.size() + 2, other.size() + 2});
  const auto pad = [&](const std::string& text, std::size_t columns) {
    return text + std::string(columns > text.size() ? columns - text.size() : 1, ' ');
  };
  constexpr std::size_t kRangeWidth = 18;
  std::string out = pad("bytes of " + own, kRangeWidth);
  for (const std::string& head : heads) out += pad(head, width);
  const auto row = [&](ShadowRange range, const std::string& middle, const std::string& last) {
    if (range.begin >= range.end) return;
    out +=
        "\n" + pad(print_range(range), kRangeWidth) + pad(own, width) + pad(middle, width) + last;
  };
  row({0, mismatch.range.begin}, own, own);
  row(mismatch.range, other, other + " <- read as " + own);
  row({mismatch.range.end, size}, own, own);
  return out + "\n";
}

spec::Finding ShadowBook::clash(const BoundStep& step, const ShadowClash& clash) const {
  const std::size_t call = clash.read ? clash.read->call : clash.written->call;
  const std::string name = step.calls[call].node->name;
  const StorageIndex hit = clash.read ? clash.read->bytes.storage : clash.written->bytes.storage;
  const std::int64_t base = clash.read ? clash.read->bytes.base : clash.written->bytes.base;
  const bool is_scratch = !clash.read || !clash.written;
  const ShadowRange range{clash.range.begin - base, clash.range.end - base};
  const std::string by =
      is_scratch ? "its scratch bytes" : "its result " + buffer_name(clash.written->bytes.storage);
  spec::Finding finding{
      .rule = "S2.stale-read",
      .message = "step " + std::to_string(step.step) + " " + quoted(name) + " writes " + by +
                 " over bytes " + print_range(range) + " of " + buffer_name(hit) +
                 (clash.read ? ", which it reads in the same launch" : ", which it makes"),
      .nodes = {name}};
  if (clash.read && clash.written) {
    const std::string writer = step.calls[clash.written->call].node->name;
    if (writer != name) finding.nodes.push_back(writer);
  }
  finding.buffers = {plain_name(hit)};
  if (!is_scratch) finding.buffers.push_back(plain_name(clash.written->bytes.storage));
  add_ranges(hit, range, finding.ranges);
  return finding;
}

}  // namespace graphgate::optimized
