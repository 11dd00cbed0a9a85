#include "conformance/verify/memory_drawing.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "conformance/verify/partition_use.h"

namespace graphgate::verify {
namespace {

constexpr std::size_t kMaxColumns = 60;

struct Box {
  spec::BufferId id;
  std::size_t first = 0;  // places in the order of steps, both included
  std::size_t last = 0;
};

Box box_of(const Accesses& accesses, const PartitionUses& uses, spec::BufferId id) {
  Box box{id, accesses.order.size(), 0};
  for (const Access& access : accesses.all) {
    if (access.buffer != id) continue;
    box.first = std::min<std::size_t>(box.first, accesses.position[access.step]);
    box.last = std::max<std::size_t>(box.last, accesses.position[access.step]);
  }
  if (uses.program_inputs.contains(id.index)) box.first = 0;
  if (uses.program_inputs.contains(id.index) || uses.outputs.contains(id.index)) {
    box.last = accesses.order.size() - 1;
  }
  return box;
}

std::string hex(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%04llx", static_cast<unsigned long long>(bytes));
  return text;
}

}  // namespace

std::string draw_buffers(const Accesses& accesses, const std::vector<spec::BufferId>& buffers) {
  const spec::Plan& plan = *accesses.plan;
  if (accesses.order.empty()) return "";
  const PartitionUses uses = partition_uses(accesses);
  std::vector<Box> boxes;
  std::set<std::int64_t> borders = {0};
  for (const spec::BufferId id : buffers) {
    boxes.push_back(box_of(accesses, uses, id));
    borders.insert(plan.buffers[id.index].offset_bytes);
    borders.insert(plan.buffers[id.index].offset_bytes + plan.buffers[id.index].size_bytes);
  }
  const std::size_t steps = accesses.order.size();
  const std::size_t per_column = (steps + kMaxColumns - 1) / kMaxColumns;
  const std::size_t columns = (steps + per_column - 1) / per_column;
  std::vector<std::string> rows;
  for (auto border = borders.begin(); std::next(border) != borders.end(); ++border) {
    std::string row = hex(*border) + " |";
    for (std::size_t column = 0; column < columns; ++column) {
      char mark = '.';
      for (std::size_t i = 0; i < boxes.size(); ++i) {
        const spec::PlanBuffer& buffer = plan.buffers[boxes[i].id.index];
        const bool in_bytes =
            buffer.offset_bytes <= *border && *border < buffer.offset_bytes + buffer.size_bytes;
        const bool in_time =
            boxes[i].first < (column + 1) * per_column && column * per_column <= boxes[i].last;
        if (!in_bytes || !in_time) continue;
        mark = mark == '.' ? static_cast<char>('a' + i) : 'X';
      }
      row += mark;
    }
    rows.push_back(row + "\n");
  }
  std::string text;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) text += *row;
  text += "        step 0 to " + std::to_string(steps - 1) + "; X: two at once\n";
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const spec::PlanBuffer& buffer = plan.buffers[boxes[i].id.index];
    text += static_cast<char>('a' + i);
    text += " " + buffer_name(plan, boxes[i].id) + " " +
            range_text({buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes}) + " steps " +
            std::to_string(boxes[i].first) + " to " + std::to_string(boxes[i].last) + "\n";
  }
  return text;
}

}  // namespace graphgate::verify
