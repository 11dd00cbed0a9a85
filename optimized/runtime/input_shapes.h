// The inputs of a call as a plan sees them: geometry, numbers, and which of them share a storage.
//
// A plan is made for these and for nothing else. For a padded plan they are made larger first. From
// them come the key by which plans are found again, and the inputs that compile() is given.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "optimized/tensor.h"
#include "spec/deviation.h"
#include "spec/executor.h"
#include "spec/plan.h"

namespace graphgate::optimized {

// `tensor` is meaningful where `number` is absent. Tensors of one `tensor.storage`, numbered from
// 0, share a storage of `storage_bytes` bytes.
struct InputShape {
  std::optional<spec::InputValue> number;
  Tensor tensor;
  std::int64_t storage_bytes = 0;
};
using InputShapes = std::vector<InputShape>;

// The program's user inputs that a call gives values for, in order: their places among all.
[[nodiscard]] std::vector<std::size_t> given_inputs(const spec::Program& program);

[[nodiscard]] InputShapes shapes_of(std::span<const spec::InputValue> inputs,
                                    const spec::DeviationSet& deviations = {});

// The same at another size of the padded symbol, or why that cannot be: a padded input shares its
// storage with another, or overlaps itself. `symbols` are the call's own. Inputs keep the order of
// their dimensions, and gaps between rows.
[[nodiscard]] Result<InputShapes> padded_shapes(const InputShapes& shapes,
                                                const spec::Program& program,
                                                const spec::PlanPadding& padding,
                                                std::int64_t size);

// Inputs of these geometries, with zeros in them.
[[nodiscard]] std::vector<spec::InputValue> blank_inputs(const InputShapes& shapes);

// What a plan is found by, name by name: "input.x" -> "float32[8, 4] ...", "number.n" -> "3",
// "symbol.s0" -> "8". Whatever alters a plan is in it.
using PlanKey = std::map<std::string, std::string>;
[[nodiscard]] PlanKey plan_key(const InputShapes& shapes, const spec::Program& program,
                               const spec::SymbolValues& symbols,
                               const spec::DeviationSet& deviations = {});

}  // namespace graphgate::optimized
