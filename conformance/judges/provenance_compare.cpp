#include "conformance/judges/provenance_compare.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "spec/plan.h"
#include "spec/provenance_words.h"

namespace graphgate::conformance {
namespace {

using spec::ProvenanceRow;
using spec::ProvenanceWord;
using Rows = std::vector<ProvenanceRow>;

bool is_made(const ProvenanceRow& row) {
  return row.port.starts_with("result") || row.port.starts_with("written");
}
bool is_read(const ProvenanceRow& row) { return row.port.starts_with("operand"); }

bool is_same(ProvenanceWord a, ProvenanceWord b) {
  return spec::provenance_hash(a) == spec::provenance_hash(b);
}

void add_names(const spec::Graph& graph, NameCounts& counts) {
  for (const spec::Node& node : graph.nodes) ++counts[node.name];
  for (const spec::Graph& subgraph : graph.subgraphs) add_names(subgraph, counts);
}

// What can have made a word, by its producer bits: nodes, inputs, state.
class Producers {
 public:
  explicit Producers(const spec::Program& program) {
    const NameCounts counts = count_names(program.graph);
    for (const auto& [name, count] : std::map(counts.begin(), counts.end())) {
      add(name, "'" + std::string(name) + "'");
    }
    for (const spec::ProgramInput& input : program.inputs) {
      if (!input.constant) add(input.target, "'" + input.target + "' as it came in");
    }
  }
  [[nodiscard]] std::string name(ProvenanceWord word) const {
    const auto found = names_.find(spec::provenance_producer(word));
    return found == names_.end() ? "a node that the program does not have" : found->second;
  }

 private:
  void add(std::string_view name, const std::string& text) {
    std::string& known = names_[spec::provenance_tag(name)];
    known += (known.empty() ? "" : " or ") + text;
  }
  std::unordered_map<std::uint32_t, std::string> names_;
};

// The first rows that have a word: the first that made it.
class Makers {
 public:
  explicit Makers(const Rows& rows) : rows_(rows) {}

  [[nodiscard]] const ProvenanceRow* find(ProvenanceWord word) {
    if (makers_.empty()) index();
    const auto found = makers_.find(spec::provenance_hash(word));
    return found == makers_.end() ? nullptr : &rows_[found->second];
  }

 private:
  void index() {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (!is_made(rows_[r])) continue;
      for (const ProvenanceWord word : rows_[r].words) {
        makers_.emplace(spec::provenance_hash(word), r);
      }
    }
  }
  const Rows& rows_;
  std::unordered_map<std::uint64_t, std::size_t> makers_;
};

// Elements [begin, end) that are off in one way: `actual` instead of `expected`.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t others = 0;  // off behind the stretch
  ProvenanceWord actual = 0;
  ProvenanceWord expected = 0;
};

// Producer and version: what a person is told of a word.
std::uint64_t label(ProvenanceWord word) {
  return word & ((ProvenanceWord{1} << spec::kProvenanceHashShift) - 1);
}

std::optional<Stretch> first_difference(const ProvenanceRow& actual,
                                        const ProvenanceRow& expected) {
  std::optional<Stretch> found;
  if (actual.words == expected.words) return found;
  for (std::size_t i = 0; i < actual.words.size(); ++i) {
    const ProvenanceWord a = actual.words[i];
    const ProvenanceWord e = expected.words[i];
    if (is_same(a, e)) continue;
    if (!found) found = Stretch{i, i, 0, a, e};
    const bool continues =
        found->end == i && label(found->actual) == label(a) && label(found->expected) == label(e);
    if (continues) {
      ++found->end;
    } else {
      ++found->others;
    }
  }
  return found;
}

bool is_comparable(const ProvenanceRow& a, const ProvenanceRow& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.words.size() == b.words.size();
}

class Comparison {
 public:
  Comparison(const CallRecord& actual, const CallRecord& expected, const spec::Program& program,
             const spec::OpTable& ops)
      : actual_(actual.result.provenance),
        expected_(expected.result.provenance),
        plan_(actual.plan.get()),
        program_(program),
        ops_(ops),
        makers_(actual_),
        right_makers_(expected_) {
    // Names of one graph differ.
    const NameCounts counts =
        program.graph.subgraphs.empty() ? NameCounts() : count_names(program.graph);
    const auto is_ambiguous = [&](const std::string& node) {
      const auto found = counts.find(node);
      return found != counts.end() && found->second > 1;
    };
    rows_.reserve(program.graph.nodes.size() + 1);
    uses_.resize(expected_.size());
    NodeRows* rows = nullptr;
    for (std::uint32_t i = 0; i < expected_.size(); ++i) {
      const std::string& node = expected_[i].node;
      if (i == 0 || node != expected_[i - 1].node) {
        rows = is_ambiguous(node) ? nullptr : &rows_[node];
      }
      if (rows != nullptr) rows->push_back(i);
    }
  }

  ProvenanceDifferences run() {
    const ProvenanceRow* before = nullptr;
    const NodeRows* rows = nullptr;  // of the row's node
    for (const ProvenanceRow& row : actual_) {
      if (before == nullptr || before->node != row.node) {
        const auto found = rows_.find(row.node);
        rows = found == rows_.end() ? nullptr : &found->second;
        makes_unwritten_ = rows != nullptr && makes_unwritten(*rows);
      }
      before = &row;
      const ProvenanceRow* right = rows != nullptr ? twin_of(row, *rows) : nullptr;
      if (right == nullptr) continue;
      compare(row, *right);
      if (!row.node.empty() && !out_.findings.empty()) break;
    }
    return std::move(out_);
  }

 private:
  // The reference's rows of one node; at the end of a call that is empty.
  using NodeRows = absl::InlinedVector<std::uint32_t, 6>;

  [[nodiscard]] const ProvenanceRow* first_at(std::string_view port, const NodeRows& rows) const {
    const auto found =
        std::ranges::find_if(rows, [&](std::uint32_t i) { return expected_[i].port == port; });
    return found == rows.end() ? nullptr : &expected_[*found];
  }

  // The row of the reference that this one is held to, of those with its port.
  [[nodiscard]] const ProvenanceRow* twin_of(const ProvenanceRow& row, const NodeRows& rows) {
    const ProvenanceRow* first = first_at(row.port, rows);
    if (first == nullptr || !is_same_family(row, *first)) return nullptr;
    std::size_t before = uses_[static_cast<std::size_t>(first - expected_.data())]++;
    if (before == 0) return first;
    // A node that is computed anew for another reader has more rows than the reference.
    const ProvenanceRow* twin = first;
    for (const std::uint32_t i : rows) {
      if (&expected_[i] == first || expected_[i].port != row.port) continue;
      twin = &expected_[i];
      if (--before == 0) break;
    }
    return twin;
  }

  // add, add_ and add.out are one.
  [[nodiscard]] bool is_same_family(const ProvenanceRow& a, const ProvenanceRow& b) const {
    return a.node.empty() || a.op == b.op || family(a.op) == family(b.op);
  }
  [[nodiscard]] std::string family(const std::string& op) const {
    const spec::OpRow* row = ops_.find(op);
    return row ? row->schema.ns + "." + row->schema.base_name() : op;
  }

  // empty_like and its kin take no byte of what they are given.
  [[nodiscard]] bool makes_unwritten(const NodeRows& rows) const {
    const ProvenanceRow* made = first_at("result 0", rows);
    if (made == nullptr) return false;
    const auto& words = made->words;
    return !words.empty() && std::ranges::all_of(words, [](ProvenanceWord word) {
      return is_same(word, spec::kUnwrittenWord);
    });
  }

  void compare(const ProvenanceRow& row, const ProvenanceRow& right) {
    if (!is_comparable(row, right)) return;
    if (makes_unwritten_ && is_read(row)) return;
    out_.elements += static_cast<std::int64_t>(row.words.size());
    const auto stretch = first_difference(row, right);
    if (!stretch) return;
    spec::Finding finding;
    finding.rule = rule_of(row, right, *stretch);
    if (!row.node.empty()) finding.nodes.push_back(row.node);
    for (const ProvenanceRow* maker :
         {makers_.find(stretch->actual), right_makers_.find(stretch->expected)}) {
      if (maker) finding.nodes.push_back(maker->node);
    }
    if (!row.buffer.empty()) {
      finding.buffers.push_back(row.buffer);
      add_range(row, *stretch, finding);
    }
    finding.message = sentence(row, *stretch, finding.rule);
    out_.findings.push_back(std::move(finding));
  }

  static void add_range(const ProvenanceRow& row, const Stretch& stretch, spec::Finding& finding) {
    if (row.strides != spec::contiguous_strides(row.sizes)) return;
    const std::int64_t item = spec::item_size_bytes(row.dtype);
    const auto at = [&](std::size_t element) {
      return (row.storage_offset + static_cast<std::int64_t>(element)) * item;
    };
    finding.ranges.push_back({row.buffer, at(stretch.begin), at(stretch.end)});
  }

  // Where the reference's storage holds the word that was read: before the read, after it, never.
  [[nodiscard]] std::string rule_of(const ProvenanceRow& row, const ProvenanceRow& right,
                                    const Stretch& stretch) const {
    if (row.node.empty()) return "P5.lost-write";
    if (!is_read(row)) return "P6.other-operation";
    if (stretch.actual == spec::kUnwrittenWord) return "P4.unwritten-read";
    bool is_before = true;
    for (const ProvenanceRow& other : expected_) {
      if (&other == &right) is_before = false;
      if (other.storage != right.storage) continue;
      const bool holds = std::ranges::any_of(
          other.words, [&](auto word) { return is_same(word, stretch.actual); });
      if (holds) return is_before ? "P1.stale-read" : "P2.early-write";
    }
    // State and inputs that were read before anything looked at them.
    const bool is_initial =
        spec::provenance_version(stretch.actual) == 0 &&
        spec::provenance_producer(stretch.actual) == spec::provenance_producer(stretch.expected);
    return is_initial ? "P1.stale-read" : "P3.foreign-read";
  }

  [[nodiscard]] std::string describe(ProvenanceWord word, const ProvenanceRow* maker) {
    if (word == spec::kUnwrittenWord) return "unwritten";
    if (!producers_) producers_.emplace(program_);
    const std::uint32_t version = spec::provenance_version(word);
    const std::string writer = maker ? "'" + maker->node + "'" : producers_->name(word);
    if (version == 0) return "version 0, " + writer;
    return "version " + std::to_string(version) + ", written by " + writer;
  }

  [[nodiscard]] std::string sentence(const ProvenanceRow& row, const Stretch& stretch,
                                     const std::string& rule) {
    const std::string place = row.buffer.empty() ? "" : " in buffer " + row.buffer;
    const std::string value = row.value.empty() ? row.port : "%" + row.value;
    std::string text;
    if (row.node.empty()) {
      text = "the call ends with " + row.port + place;
    } else {
      text = "step " + std::to_string(row.step) + " ('" + row.node + "') " +
             (is_read(row) ? "read " : "made ") + value + place;
    }
    const ProvenanceRow* maker = makers_.find(stretch.actual);
    const ProvenanceRow* right = right_makers_.find(stretch.expected);
    text += ": elements [" + std::to_string(stretch.begin) + ", " + std::to_string(stretch.end) +
            ") are " +
            describe(stretch.actual, maker ? maker : right_makers_.find(stretch.actual)) +
            "; expected " + describe(stretch.expected, right);
    if (stretch.others > 0) text += "; and " + std::to_string(stretch.others) + " elements more";
    return text + hazard(row, maker, right, rule);
  }

  // The kind of hazard, and the partitions that it crosses.
  [[nodiscard]] std::string hazard(const ProvenanceRow& row, const ProvenanceRow* maker,
                                   const ProvenanceRow* right, const std::string& rule) {
    const bool is_stale = rule.starts_with("P1");
    if (!is_stale && !rule.starts_with("P2")) return "";
    const ProvenanceRow* other = maker;
    if (is_stale) {
      const auto writer = std::ranges::find_if(actual_, [&](const auto& made) {
        return right && made.node == right->node && is_made(made);
      });
      other = writer == actual_.end() ? nullptr : &*writer;
    }
    std::string text = is_stale ? "RAW" : "WAR";
    if (other) {
      const auto here = partition_of(row.step);
      const auto there = partition_of(other->step);
      if (here && there && *here != *there) {
        text += " across partition " + std::to_string(std::min(*here, *there)) + "|" +
                std::to_string(std::max(*here, *there));
      }
    } else if (is_stale) {
      text += ", the write did not run";
    }
    return " (" + text + ")";
  }

  // Partitions are counted over all blocks.
  [[nodiscard]] std::optional<std::size_t> partition_of(std::uint32_t step) const {
    if (!plan_) return std::nullopt;
    std::size_t number = 0;
    for (const spec::PlanBlock& block : plan_->blocks) {
      for (const spec::PlanPartition& partition : block.partitions) {
        if (step >= partition.begin_step && step < partition.end_step) return number;
        ++number;
      }
    }
    return std::nullopt;
  }

  const Rows& actual_;
  const Rows& expected_;
  const spec::Plan* plan_;
  const spec::Program& program_;
  const spec::OpTable& ops_;
  std::optional<Producers> producers_;  // made for the first finding
  Makers makers_;
  Makers right_makers_;
  std::unordered_map<std::string_view, NodeRows> rows_;  // by node
  bool makes_unwritten_ = false;                         // the node whose rows are compared
  std::vector<std::size_t> uses_;  // by row of the reference: how many of ours stood in its place
  ProvenanceDifferences out_;
};

}  // namespace

NameCounts count_names(const spec::Graph& graph) {
  NameCounts counts;
  add_names(graph, counts);
  return counts;
}

ProvenanceDifferences compare_provenance(const CallRecord& actual, const CallRecord& expected,
                                         const spec::Program& program, const spec::OpTable& ops) {
  return Comparison(actual, expected, program, ops).run();
}

}  // namespace graphgate::conformance
