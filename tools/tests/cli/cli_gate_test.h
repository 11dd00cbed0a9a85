// A small corpus for tests of gates.
#pragma once

#include "tools/tests/cli/cli_test.h"

namespace graphgate::tools {

class GateCorpus : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    fs::create_directories(folder_ / "corpus");
    // One that torch-2.9.0 gets wrong, and one that nobody does.
    for (const char* name : {"catalogue/p1-tail-allocation", "op/conversion"}) {
      const fs::path path = folder_ / "golden/cases" / (std::string(name) + ".case");
      fs::copy_file(path, folder_ / "corpus" / path.filename());
    }
  }
  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
};

}  // namespace graphgate::tools
