// Values put back to the places that maximum pooling took them from; zeros elsewhere. Of several
// for one place PyTorch promises none.
#include <array>
#include <numeric>

#include "reference/movement.h"
#include "reference/ops/index_access.h"
#include "reference/ops/norm_parameters.h"
#include "reference/ops/window.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

using spec::DType;

void check_unpooling(const Call& call, const Tensor& self, const Tensor& indices) {
  if (indices.dtype != DType::kInt64) {
    throw OpError("elements in indices should be type int64");
  }
  if (indices.sizes != self.sizes) {
    throw OpError("expected shape of indices to be same as that of the input tensor");
  }
  for (const std::string_view name : {"stride", "padding"}) {
    if (!call.has(name)) continue;
    for (const std::int64_t value : per_dimension(call.integers(name), 3, name)) {
      if (value >= (name == "stride" ? 1 : 0)) continue;
      throw OpError("max_unpool3d: " + std::string(name) + " is out of range");
    }
  }
}

void max_unpool(Call& call, std::size_t rank) {
  const Tensor& self = *call.tensor("self");
  const Tensor& indices = *call.tensor("indices");
  check_unpooling(call, self, indices);
  const Sizes spatial = call.integers("output_size");
  if (spatial.size() != rank) throw OpError("output_size must have a size for each dimension");
  const Sizes sizes = with_spatial(self.sizes, spatial);
  const Planes planes = planes_of(self, rank);
  const std::int64_t area = count_of(spatial);
  const Sizes strides = rank == 2 ? image_strides(self, sizes) : spec::contiguous_strides(sizes);
  const TensorRef made = new_tensor(self.dtype, sizes, strides, self.device);
  const Array<Whole> places = load<Whole>(indices, DType::kInt64);
  std::vector<Picked> picked;
  std::vector<bool> is_open(static_cast<std::size_t>(planes.count), false);
  for (std::int64_t i = 0; i < places.count(); ++i) {
    const std::int64_t plane = i / planes.area_in;
    const std::int64_t place = checked_index(places[i], area, 0, Negative::kRefused);
    picked.push_back({plane * area + place, places[i].undecided});
    if (places[i].undecided) is_open[static_cast<std::size_t>(plane)] = true;
  }
  std::vector<std::int64_t> sources(picked.size());
  std::iota(sources.begin(), sources.end(), 0);
  place(call.mode(), *made, picked, self, sources);
  std::vector<std::int64_t> unknown;
  for (std::int64_t i = 0; i < planes.count * area; ++i) {
    if (is_open[static_cast<std::size_t>(i / area)]) unknown.push_back(i);
  }
  mark_unknown(*made, unknown);
  emit_made(call, made);
}
void max_unpool2d(Call& call) { max_unpool(call, 2); }
void max_unpool3d(Call& call) { max_unpool(call, 3); }

constexpr std::array kUnpoolingOps = {
    OpBody{"aten.max_unpool2d", max_unpool2d}.moves("self"),
    OpBody{"aten.max_unpool3d", max_unpool3d}.moves("self"),
};

}  // namespace

std::span<const OpBody> unpooling_ops() { return kUnpoolingOps; }

}  // namespace graphgate::reference
