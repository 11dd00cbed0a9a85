// What a compiled program takes for granted of its inputs, and whether a call keeps to it.
//
// The first call decides. In every call bind_symbols() sees to it that inputs are what the program
// declares (count, kinds, dtypes, ranks, sizes, ranges of symbols). The contract is about the rest,
// which every plan that is made later takes over from the first:
//
//   facts     devices, numbers that no symbol stands for, and which inputs share a storage
//   layouts   strides, offset, and the bytes of the storage: those that the program declares,
//             row-major and alone, or else the very ones of the first call
//
// CompiledModel asks before it dispatches. An input of another layout can be copied into the
// expected one (relayout.h); another fact means another program.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spec/executor.h"

namespace graphgate::optimized {

class Contract {
 public:
  // `program` outlives the contract; `symbols` are those that bind_symbols() gave for `inputs`.
  Contract(const spec::Program& program, std::span<const spec::InputValue> inputs,
           const spec::SymbolValues& symbols);

  // What a call changes, a clause each: "input 1 ('k') was 2 and is 3". Both want as many inputs,
  // of the same kinds, as the first call had.
  [[nodiscard]] std::vector<std::string> broken_facts(
      std::span<const spec::InputValue> inputs) const;
  // Input `index` alone; "" when its layout is the expected one, or it is a number.
  [[nodiscard]] std::string broken_layout(std::size_t index, const spec::InputValue& input,
                                          const spec::SymbolValues& symbols) const;

  // Notes which inputs an output of this call shares its storage with.
  void note_result(const spec::CallResult& result);

  // Whether another input, or an output of a call that was noted, lies over the same storage.
  [[nodiscard]] bool shares_storage(std::size_t index) const;

  // A tensor of the input's elements' shape, zero-filled, in the layout that the program was
  // compiled for. kBadInput where that is the first call's own, and the sizes are others.
  [[nodiscard]] Result<spec::HostTensor> expected_layout(std::size_t index,
                                                         const spec::HostTensor& input,
                                                         const spec::SymbolValues& symbols) const;

 private:
  // Geometry over a storage of `storage_bytes`; `layout.storage` is null.
  struct Layout {
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    std::int64_t offset = 0;
    std::int64_t storage_bytes = 0;
    friend bool operator==(const Layout&, const Layout&) = default;
  };
  struct Fact {
    std::string name;
    std::string value;                 // of a number that no symbol stands for
    spec::Device device;               // of a tensor
    std::size_t shares_with = 0;       // the first input over the same storage
    bool is_returned = false;          // an output lies over its storage
    std::optional<Layout> of_its_own;  // absent: the declared one
    const spec::TensorType* type = nullptr;
  };

  [[nodiscard]] static Layout layout_of(const spec::HostTensor& tensor);
  [[nodiscard]] static Layout declared_layout(const Fact& fact, const spec::HostTensor& tensor,
                                              const spec::SymbolValues& symbols);
  [[nodiscard]] static std::size_t sharer(std::span<const spec::InputValue> inputs,
                                          std::size_t index);

  std::vector<Fact> facts_;
};

}  // namespace graphgate::optimized
