// graphgate doctor: what this machine and this build can run, and why not.
#include <cstdio>
#include <memory>

#include "base/atomic_file.h"
#include "tools/cli/flags.h"
#include "tools/cli/verb.h"
#include "tools/report/forms.h"
#include "tools/report/json.h"
#include "tools/report/machine_facts.h"
#include "tools/store/bundled_data.h"

namespace graphgate::tools {
namespace {

struct DoctorVerb {
  std::string json;
};

Result<ExitCode> run_doctor(const DoctorVerb& verb) {
  Json json = machine_facts();
  for (const auto& [name, folder] :
       {std::pair{"corpus", bundled_corpus()}, std::pair{"adapters", bundled_adapters()}}) {
    json[name] = folder.empty() ? "none beside the program" : folder;
  }
  GRAPHGATE_TRY_VOID(write_json(json, verb.json));
  if (verb.json == "-") return ExitCode::kGood;
  print_plain(stdout, facts_text(json));
  return ExitCode::kGood;
}

}  // namespace

Verb add_doctor(CLI::App& app) {
  const auto owned = std::make_shared<DoctorVerb>();
  DoctorVerb& verb = *owned;
  CLI::App* doctor =
      app.add_subcommand("doctor", "tell what this machine and this build can run, and why not");
  add_json_flag(*doctor, verb.json, "it");
  doctor->footer("Example:\n  graphgate doctor");
  return {doctor, [owned](const auto& /*words*/) { return run_doctor(*owned); }};
}

}  // namespace graphgate::tools
