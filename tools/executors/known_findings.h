// Findings that are known of the executor under test: the ledger that ships with its adapter
// (docs/formats.md, known findings), as far as it concerns this version, device and backend.
#pragma once

#include <string>
#include <vector>

#include "fuzz/campaign/known_findings.h"
#include "tools/executors/subject.h"

namespace graphgate::tools {

// What an executor says of itself, as far as ledgers go by it.
struct KnownSubject {
  std::string name;     // "torch"
  std::string version;  // "2.15.0"
  std::string backend;  // "compile"; may be empty
  std::string device;   // "cpu"; may be empty
};

// Of an identity "torch-2.15.0+cu132 compile cuda:0" or "optimized 0.1.0": a name with its version
// first, a backend and a device last. What a build adds to a version, the number of a device, and
// words between are left out.
[[nodiscard]] KnownSubject known_subject(const std::string& identity);

// Returns, of the findings that a ledger tells of this subject's name, those that are expected of
// it. They show on its version, device and backend. Where that version was not run, they show on
// the nearest older version that was, else on the nearest newer one. `path` is for messages; cases
// lie beside it. Errors are kBadInput with the place.
[[nodiscard]] Result<fuzz::KnownFindings> read_known_findings(const std::string& path,
                                                              const KnownSubject& subject);

// The ledger that ships with the adapter of such a subject, with its folder; empty where none does.
[[nodiscard]] std::string shipped_ledger(const KnownSubject& subject);

}  // namespace graphgate::tools
