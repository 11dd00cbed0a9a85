// The text of pointwise works that go on with what each other has in registers (pointwise_text.h):
// thread by thread, or as a piece of a kernel that has some of the elements already.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "optimized/codegen/cells_text.h"
#include "optimized/codegen/spelling.h"
#include "optimized/codegen/work.h"

namespace graphgate::optimized {

// Both at one frame: the same bytes for the same position.
[[nodiscard]] bool is_same_place(const Tensor& a, const Tensor& b);

// Returns how many elements along the last dimension can be taken at once: 1, 2 or 4, and at most
// `most`. They lie next to each other, the first at a multiple of their bytes, or are one.
[[nodiscard]] std::int64_t neighbours_of(const Tensor& tensor, std::int64_t most);

using CellsWrites = std::vector<std::shared_ptr<const CellsWrite>>;

// Statements that do a group's works for some neighbouring elements, in the middle of a kernel.
struct GroupPiece {
  std::string statements;
  std::vector<std::byte*> pointers;
  std::vector<DeviceAccess> accesses;
  std::string what;
  bool reports_faults = false;
};

// What a group's works say together. All are at one frame, without dimensions of size 1. The first
// works may have no function: who asks for a piece has their elements.
class GroupText {
 public:
  // `cells`: where elements of the works' results go as well. `is_stored(i)`: whether the result of
  // the i-th work has to be in memory afterwards.
  GroupText(std::span<const PointwiseWork> works,
            std::span<const std::shared_ptr<const CellsWrite>> cells,
            const std::function<bool(std::size_t)>& is_stored);

  // Thread by thread.
  [[nodiscard]] TextWork text();

  // neighbours_of all that memory is touched for.
  [[nodiscard]] std::int64_t most_neighbours(std::int64_t most) const;
  // For `count` neighbours (an expression), at most `most`, of which the first one has these
  // coordinates, expressions too. Elements of the i-th given work are at the address "gi.at(e)".
  // Pointers are numbered from `first_pointer`.
  [[nodiscard]] GroupPiece piece(std::span<const std::string> coordinates, const std::string& count,
                                 std::int64_t most, std::size_t first_pointer);

 private:
  // A tensor that memory is touched for, at the frame.
  struct Touch {
    Tensor tensor;
    bool is_read = false;
    bool is_written = false;
    std::string offset;  // of the thread's first element, in bytes: "x0 * 4"
    std::string place;   // its address: "p0 + x0 * 4"
    // Of several neighbours, element e lies in a word of the thread's own: "r0.at(e)" where it is
    // read, "w0.at(e)" where it is written.
    bool has_word = false;
  };
  struct Read {
    std::size_t place = 0;
    std::optional<std::size_t> maker;  // the work whose value it is, and no memory is read
  };

  [[nodiscard]] std::size_t place(const Tensor& tensor);
  [[nodiscard]] std::optional<std::size_t> maker_before(std::size_t w, const Tensor& tensor) const;
  [[nodiscard]] bool feeds(std::size_t w, const CellsWrite& cells) const;
  [[nodiscard]] std::int64_t take_neighbours(Walk& walk);
  void name_pointers(std::size_t first);
  [[nodiscard]] std::vector<DeviceAccess> accesses() const;
  [[nodiscard]] std::vector<std::byte*> pointers() const;
  [[nodiscard]] std::string what() const;
  [[nodiscard]] bool reports_faults() const;
  [[nodiscard]] std::string address(const char* prefix, std::size_t t) const;
  [[nodiscard]] std::string loop_text(const std::string& count, std::int64_t most) const;
  [[nodiscard]] std::string element_text(std::int64_t most) const;
  [[nodiscard]] bool moves_words(std::size_t w, const CellsWrite& cells, std::int64_t most) const;
  [[nodiscard]] std::string cells_text(std::size_t w, std::int64_t most, bool of_words) const;
  [[nodiscard]] std::string value_text(std::size_t w) const;

  std::span<const PointwiseWork> works_;
  std::span<const std::shared_ptr<const CellsWrite>> cells_;
  std::vector<Touch> touches_;
  std::vector<std::size_t> cell_pointers_;          // the first one's number, per write of cells
  std::vector<std::optional<std::size_t>> stores_;  // per work
  std::vector<std::vector<Read>> reads_;            // per work and operand
};

}  // namespace graphgate::optimized
