#include "optimized/runtime/held_output.h"

#include <utility>

namespace graphgate::optimized {
namespace {

spec::HostTensor with_own_storage(spec::HostTensor tensor) {
  tensor.storage = std::make_shared<spec::HostStorage>(*tensor.storage);
  return tensor;
}

}  // namespace

PoolOutput::PoolOutput(std::string name, OutputPlace place, std::shared_ptr<RunPool> pool,
                       std::uint64_t run, spec::OutputLifetime lifetime,
                       const spec::DeviationSet& deviations)
    : name_(std::move(name)),
      place_(std::move(place)),
      pool_(std::move(pool)),
      run_(run),
      is_checked_(lifetime == spec::OutputLifetime::kWeak &&
                  !deviations.has(spec::Deviation::kNoGenerationCheck)) {}

spec::HostTensor PoolOutput::copy() const {
  spec::HostTensor out{place_.planned.dtype,   place_.planned.sizes,
                       place_.planned.strides, place_.planned.offset,
                       place_.planned.device,  std::make_shared<spec::HostStorage>()};
  if (!place_.exact) {
    out.storage->bytes.assign(place_.storage.begin(), place_.storage.end());
    return out;
  }
  out.sizes = place_.exact->sizes;
  out.strides = place_.exact->strides;
  out.storage_offset = place_.exact->offset;
  out.storage->bytes.resize(static_cast<std::size_t>(place_.exact_storage_bytes));
  cut_into(place_.planned, *place_.exact, *out.storage);
  return out;
}

Result<spec::HostTensor> PoolOutput::read() const {
  if (copied_) return with_own_storage(*copied_);
  if (is_checked_ && pool_->runs() != run_) {
    return bad_input(name_ + " is weak: run " + std::to_string(run_) +
                     " of its pool made it, and " + pool_->last_run() + ", took its place");
  }
  return copy();
}

void PoolOutput::copy_out() {
  if (!copied_) copied_ = copy();
}

CopiedOutput::CopiedOutput(spec::HostTensor tensor)
    : tensor_(with_own_storage(std::move(tensor))) {}

Result<spec::HostTensor> CopiedOutput::read() const { return with_own_storage(tensor_); }

}  // namespace graphgate::optimized
