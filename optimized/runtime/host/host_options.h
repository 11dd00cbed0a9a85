// What the host backend may be asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "optimized/runtime/device/device.h"
#include "optimized/runtime/host/copy_in.h"
#include "optimized/runtime/host/instrument.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

struct HostOptions {
  // Which legal order launches of several streams run in; 0: program order (streams.h).
  std::uint64_t interleaving_seed = 0;
  // Arenas are filled with this byte before every run: what reads bytes that the run has not
  // written reads these.
  std::optional<std::byte> poison;
  PadFill pad_fill = PadFill::kKeep;
  spec::DeviationSet deviations;
  std::shared_ptr<Instrument> instrument;  // may be null
  // Runs what it can of the plan; null: the host runs all. Not together with an instrument.
  std::shared_ptr<Device> device;
};

}  // namespace graphgate::optimized
