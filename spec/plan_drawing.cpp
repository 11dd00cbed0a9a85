#include "spec/plan_drawing.h"

#include <algorithm>
#include <optional>

#include "spec/argument_text.h"
#include "spec/plan_text.h"

namespace graphgate::spec {
namespace {

void collect_arms(const Argument& argument, std::vector<std::uint32_t>& arms) {
  if (const auto* id = argument.as<SubgraphId>()) arms.push_back(id->index);
  if (const auto* list = argument.as<Argument::List>()) {
    for (const Argument& element : *list) collect_arms(element, arms);
  }
}

// Walks the steps as they would run and notes the uses of buffers.
class UseFinder {
 public:
  explicit UseFinder(const Plan& plan) : plan_(plan), uses_(plan.buffers.size()) {}

  void find() {
    for (const PlanInput& input : plan_.inputs) {
      if (!input.constant) use(input.value, 0);
    }
    walk_block(plan_.blocks.front());
    const std::uint32_t last = now() == 0 ? 0 : now() - 1;
    for (const auto& outputs : {plan_.outputs, plan_.blocks.front().outputs}) {
      for (const Argument& output : outputs) {
        for_each_value(output, [&](ValueId id) { use(id, last); });
      }
    }
    for (const PlanInput& input : plan_.inputs) {
      if (input.final_value) use(*input.final_value, last);
    }
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const PlanPool& pool = plan_.pools[plan_.buffers[i].pool.index];
      if (uses_[i] && pool.kind == PoolKind::kState) uses_[i] = Range{0, last};
    }
  }

  std::vector<std::uint32_t> take_order() { return std::move(order_); }

  [[nodiscard]] std::vector<BufferUse> uses() const {
    std::vector<BufferUse> list;
    for (std::uint32_t i = 0; i < uses_.size(); ++i) {
      if (uses_[i]) list.push_back(BufferUse{BufferId{i}, uses_[i]->first, uses_[i]->last});
    }
    return list;
  }

 private:
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
  };

  [[nodiscard]] std::uint32_t now() const { return static_cast<std::uint32_t>(order_.size()); }

  void use(BufferId id, std::uint32_t time) {
    std::optional<Range>& range = uses_[id.index];
    if (!range) range = Range{time, time};
    range->first = std::min(range->first, time);
    range->last = std::max(range->last, time);
  }

  void use(ValueId id, std::uint32_t time) {
    if (const auto buffer = plan_.values[id.index].buffer) use(*buffer, time);
  }

  void walk_block(const PlanBlock& block) {
    for (const PlanPartition& partition : block.partitions) {
      for (std::uint32_t i = partition.begin_step; i < partition.end_step; ++i) walk_step(i);
    }
  }

  void use_all(const Node& node, std::uint32_t time) {
    for_each_operand(node, [&](ValueId id) { use(id, time); });
    for (const NodeResult& result : node.results) {
      for (const ValueId id : result.values) use(id, time);
    }
  }

  void use_all(const PlanStep& step, std::uint32_t time) {
    use_all(step.node, time);
    for (const Node& node : step.body) use_all(node, time);
    if (step.workspace) use(*step.workspace, time);
  }

  void walk_step(std::uint32_t index) {
    const PlanStep& step = plan_.steps[index];
    use_all(step, now());
    order_.push_back(index);
    const std::vector<std::uint32_t> arms = arms_of(step);
    if (arms.empty()) return;
    for (const std::uint32_t arm : arms) walk_block(plan_.blocks[arm]);
    const std::uint32_t last = now() - 1;
    use_all(step, last);
    for (const std::uint32_t arm : arms) {
      for (const Argument& output : plan_.blocks[arm].outputs) {
        for_each_value(output, [&](ValueId id) { use(id, last); });
      }
    }
  }


  const Plan& plan_;
  std::vector<std::optional<Range>> uses_;  // by buffer
  std::vector<std::uint32_t> order_;
};

// Items [0, count) in at most `most` groups of nearly the same size.
struct Grouping {
  std::size_t count;
  std::size_t groups;
  Grouping(std::size_t item_count, std::size_t most)
      : count(item_count), groups(std::min(item_count, std::max<std::size_t>(most, 1))) {}
  // The group of an item: items i with first(g) <= i < first(g + 1).
  [[nodiscard]] std::size_t first(std::size_t group) const { return group * count / groups; }
  [[nodiscard]] std::size_t of(std::size_t item) const { return ((item + 1) * groups - 1) / count; }
};

constexpr std::size_t kMinWidth = 40;
constexpr std::size_t kMaxStepWidth = 4;
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// A buffer as the picture shows it: rows are ranges between consecutive ends.
struct Box {
  BufferUse use;
  std::int64_t begin_bytes;
  std::int64_t end_bytes;
  std::size_t first_range;
  std::size_t end_range;
};

class Drawing {
 public:
  Drawing(const Plan& plan, PoolId pool, const DrawingOptions& options)
      : plan_(plan),
        pool_(plan.pools.at(pool.index)),
        options_(options),
        heap_(pool_.kind == PoolKind::kHeap),
        step_count_(std::max<std::size_t>(plan.steps.size(), 1)) {
    collect_boxes(pool);
  }

  std::string draw() {
    print_head();
    if (boxes_.empty()) return std::move(out_);
    paint();
    print_rows();
    print_legend();
    return std::move(out_);
  }

 private:
  void collect_boxes(PoolId pool) {
    for (const BufferUse& use : buffer_uses(plan_)) {
      const PlanBuffer& buffer = plan_.buffers[use.buffer.index];
      if (buffer.pool != pool || (buffer.size_bytes == 0 && !heap_)) continue;
      const std::int64_t begin =
          heap_ ? static_cast<std::int64_t>(boxes_.size()) : buffer.offset_bytes;
      const std::int64_t end = heap_ ? begin + 1 : begin + buffer.size_bytes;
      boxes_.push_back(Box{use, begin, end, 0, 0});
      ends_.push_back(begin);
      ends_.push_back(end);
    }
    std::stable_sort(boxes_.begin(), boxes_.end(),
                     [](const Box& a, const Box& b) { return a.begin_bytes < b.begin_bytes; });
    std::sort(ends_.begin(), ends_.end());
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
    for (Box& box : boxes_) {
      box.first_range = range_at(box.begin_bytes);
      box.end_range = range_at(box.end_bytes);
    }
  }

  [[nodiscard]] std::size_t range_at(std::int64_t end) const {
    return static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), end) -
                                    ends_.begin());
  }

  void print_head() {
    out_ = "pool " + print_sigil_name('@', pool_.name) + ": " +
           std::string(pool_kind_name(pool_.kind)) + " on " + print_device(pool_.device) + ", ";
    if (!heap_) out_ += std::to_string(pool_.size_bytes) + " bytes, ";
    out_ += std::to_string(boxes_.size()) + " buffers in use, steps 0 to " +
            std::to_string(step_count_ - 1) + "\n";
  }

  // What stands in front of a row: the offset where it begins.
  [[nodiscard]] std::string label(std::size_t range) const {
    return heap_ ? "" : std::to_string(ends_[range]);
  }

  void paint() {
    label_width_ = heap_ ? 0 : std::to_string(ends_.back()).size();
    const std::size_t width = std::max(options_.width, kMinWidth) - label_width_ - 2;
    const Grouping columns(step_count_, width);
    const Grouping rows(ends_.size() - 1, options_.height);
    step_width_ = std::min(kMaxStepWidth, width / columns.groups);
    cells_.assign(rows.groups, std::string(columns.groups, '.'));
    std::vector<const Box*> first(rows.groups * columns.groups, nullptr);
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      const Box& box = boxes_[i];
      for (std::size_t r = rows.of(box.first_range); r <= rows.of(box.end_range - 1); ++r) {
        for (std::size_t c = columns.of(box.use.first_step); c <= columns.of(box.use.last_step);
             ++c) {
          const Box*& other = first[r * columns.groups + c];
          paint_cell(box, i, other, cells_[r][c]);
          if (other == nullptr) other = &box;
        }
      }
    }
    rows_ = rows;
  }

  static void paint_cell(const Box& box, std::size_t index, const Box* other, char& cell) {
    if (other == nullptr) {
      cell = kLetters[index % kLetters.size()];
      return;
    }
    const bool same_bytes =
        box.begin_bytes < other->end_bytes && other->begin_bytes < box.end_bytes;
    const bool same_steps =
        box.use.first_step <= other->use.last_step && other->use.first_step <= box.use.last_step;
    if (same_bytes && same_steps) cell = '#';
    if (cell != '#') cell = '+';
  }

  void print_rows() {
    for (std::size_t r = 0; r < cells_.size(); ++r) {
      print_label(label(rows_.first(r)), " |");
      for (const char cell : cells_[r]) out_.append(step_width_, cell);
      out_ += '\n';
    }
    print_label(label(ends_.size() - 1), " +");
    out_.append(step_width_ * cells_.front().size(), '-');
    out_ += '\n';
  }

  void print_label(const std::string& text, std::string_view rule) {
    out_.append(label_width_ - text.size(), ' ');
    out_ += text;
    out_ += rule;
  }

  void print_legend() {
    for (std::size_t i = 0; i < std::min(boxes_.size(), options_.legend_rows); ++i) {
      const Box& box = boxes_[i];
      out_ += kLetters[i % kLetters.size()];
      out_ += " " + print_sigil_name('$', plan_.buffers[box.use.buffer.index].name);
      if (!heap_) {
        out_ += " [" + std::to_string(box.begin_bytes) + ", " + std::to_string(box.end_bytes) + ")";
      }
      out_ += " steps " + std::to_string(box.use.first_step) + " to " +
              std::to_string(box.use.last_step) + "\n";
    }
    if (boxes_.size() > options_.legend_rows) {
      out_ += "and " + std::to_string(boxes_.size() - options_.legend_rows) + " more\n";
    }
  }

  const Plan& plan_;
  const PlanPool& pool_;
  DrawingOptions options_;
  bool heap_;
  std::size_t step_count_;
  std::vector<Box> boxes_;          // by offset
  std::vector<std::int64_t> ends_;  // where boxes begin or end; in a heap, numbers of boxes
  std::vector<std::string> cells_;  // by row and column
  Grouping rows_{1, 1};
  std::size_t label_width_ = 0;
  std::size_t step_width_ = 1;
  std::string out_;
};

}  // namespace

std::vector<std::uint32_t> arms_of(const PlanStep& step) {
  std::vector<std::uint32_t> arms;
  for (const NamedArgument& named : step.node.arguments) collect_arms(named.argument, arms);
  std::sort(arms.begin(), arms.end());
  arms.erase(std::unique(arms.begin(), arms.end()), arms.end());
  return arms;
}

std::vector<std::uint32_t> execution_order(const Plan& plan) {
  UseFinder finder(plan);
  finder.find();
  return finder.take_order();
}

std::vector<BufferUse> buffer_uses(const Plan& plan) {
  UseFinder finder(plan);
  finder.find();
  return finder.uses();
}

std::string draw_pool(const Plan& plan, PoolId pool, const DrawingOptions& options) {
  return Drawing(plan, pool, options).draw();
}

}  // namespace graphgate::spec
