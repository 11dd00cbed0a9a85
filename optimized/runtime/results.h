// What a call returns, copied out of a plan's memory.
//
// Tensors that lie in one buffer come out over one storage. A padded plan's tensors come out as a
// plan of the call's own size would have made them: with that geometry, cut to it. A storage that
// has no rows, of which a tensor with rows is an expanded view, is the same in both, and comes out
// whole. So the view shares it with state, inputs and outputs that are not cut.
//
//   plan   f32[8, 4]{4, 1}      a transposed output  f32[4, 8]{1, 4}
//   call   f32[3, 4]{4, 1}                           f32[4, 3]{1, 4}
#pragma once

#include <map>

#include "optimized/runtime/host/host_program.h"
#include "optimized/sized_graph.h"
#include "spec/executor.h"

namespace graphgate::optimized {

// Geometries at the call's own size, and how many bytes their storages have. `outputs` as
// Plan::outputs (absent: no tensor of known geometry), `inputs` by the user inputs that are
// tensors, after the call.
struct ExactShapes {
  std::vector<std::optional<Tensor>> outputs;
  std::vector<Tensor> inputs;
  std::vector<std::int64_t> storage_bytes;  // by Tensor::storage
};
[[nodiscard]] ExactShapes exact_shapes(const SizedGraph& graph);

class Exporter {
 public:
  // Both outlive the exporter. `exact` is null for plans without a padding.
  Exporter(const HostProgram& program, const ExactShapes* exact)
      : program_(program), exact_(exact) {}

  // Output `index` of the plan.
  [[nodiscard]] spec::OutputValue output(std::size_t index);
  // A tensor as the plan has it, or (with `exact`) cut to that geometry.
  [[nodiscard]] spec::HostTensor tensor(const Tensor& planned, const Tensor* exact = nullptr);
  // What lies in this storage comes out over `storage`: state that nothing writes is the program's.
  void adopt(StorageIndex planned, const std::shared_ptr<spec::HostStorage>& storage);
  // Bytes of an exact storage before anything is cut into it.
  void begin_with(StorageIndex exact, std::span<const std::byte> bytes);

 private:
  // Whether storages have the same bytes at both sizes. Inputs that are cut are over the caller's.
  [[nodiscard]] bool is_free_of_rows(const Tensor& planned, const Tensor& exact) const;

  const HostProgram& program_;
  const ExactShapes* exact_;
  std::map<StorageIndex, std::shared_ptr<spec::HostStorage>> storages_;
  std::map<StorageIndex, std::shared_ptr<spec::HostStorage>> exact_storages_;
};

// The elements of `planned` that `exact` has, to the places that it gives them in `storage`.
void cut_into(const Tensor& planned, const Tensor& exact, spec::HostStorage& storage);

}  // namespace graphgate::optimized
