// An output that a caller keeps where it lies: in memory that runs take turns in.
//
// A weak one answers for its bytes until the next run in its pool. A strong one is copied out
// before that run (RunPool::hold), and answers for good.
#pragma once

#include "optimized/runtime/host/run_pool.h"
#include "optimized/runtime/results.h"

namespace graphgate::optimized {

// Where an output lies. `memory` keeps the bytes alive; `storage` are those of its buffer. `exact`
// is its geometry in a padded plan.
struct OutputPlace {
  Tensor planned;
  std::optional<Tensor> exact;
  std::int64_t exact_storage_bytes = 0;
  std::span<const std::byte> storage;
  std::shared_ptr<HostMemory> memory;
};

class PoolOutput final : public spec::HeldOutput, public Evacuee {
 public:
  // `name`: "output 0 of 'p'". `run` is the number in `pool` of the run that made it.
  PoolOutput(std::string name, OutputPlace place, std::shared_ptr<RunPool> pool, std::uint64_t run,
             spec::OutputLifetime lifetime, const spec::DeviationSet& deviations);

  [[nodiscard]] Result<spec::HostTensor> read() const override;
  void copy_out() override;

 private:
  [[nodiscard]] spec::HostTensor copy() const;

  std::string name_;
  OutputPlace place_;
  std::shared_ptr<RunPool> pool_;
  std::uint64_t run_;
  bool is_checked_;
  std::optional<spec::HostTensor> copied_;
};

// One that is the caller's already.
class CopiedOutput final : public spec::HeldOutput {
 public:
  explicit CopiedOutput(spec::HostTensor tensor);
  [[nodiscard]] Result<spec::HostTensor> read() const override;

 private:
  spec::HostTensor tensor_;
};

}  // namespace graphgate::optimized
