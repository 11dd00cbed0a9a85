#include "optimized/runtime/host/instrument.h"

#include "optimized/runtime/host/provenance.h"
#include "optimized/runtime/host/shadow.h"

namespace graphgate::optimized {

std::shared_ptr<Instrument> make_instrument(InstrumentKind kind) {
  switch (kind) {
    case InstrumentKind::kNone:
      return nullptr;
    case InstrumentKind::kProvenance:
      return std::make_shared<ProvenanceInstrument>();
    case InstrumentKind::kShadow:
      return std::make_shared<ShadowInstrument>();
  }
  return nullptr;
}

}  // namespace graphgate::optimized
