// What a plan depends on, as named facts in named sections: the key of the cache.
//
//   folder   everything but one compile's size and inputs: program, ops, options, machine, ranks'
//            environment. Its hash names the folder, and `cache_key_factors.json` shows it.
//   entry    the size range, the inputs' geometry, the values of symbols. Its hash names the entry.
//
// The rule: whatever can alter a plan is a factor, and nothing else is, so that a plan is found
// again. A factor that is a set (split ops, the environment) has one text whatever the order it is
// given in. Parameters' contents are no factor, for no plan depends on them; their geometry and
// sharing are.
//
// Some deviations forget factors, each in drop_factors() alone.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "optimized/cache/plan_cache.h"
#include "spec/deviation.h"

namespace graphgate::optimized {

class KeyFactors {
 public:
  using Section = std::map<std::string, std::string, std::less<>>;

  void set(std::string_view section, std::string name, std::string value);
  // The factor's value is the sorted items, each once, one a line.
  void set_of(std::string_view section, std::string name, std::vector<std::string> items);

  [[nodiscard]] const std::map<std::string, Section, std::less<>>& sections() const {
    return sections_;
  }
  [[nodiscard]] std::map<std::string, Section, std::less<>>& sections() { return sections_; }

  // One line a factor, sections and names in byte order, with nothing that could be read in two
  // ways; and its SHA-256.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string hash() const;

  // "section.name" of every factor in which the two differ.
  [[nodiscard]] static std::vector<std::string> differences(const KeyFactors& a,
                                                            const KeyFactors& b);
  friend bool operator==(const KeyFactors&, const KeyFactors&) = default;

 private:
  std::map<std::string, Section, std::less<>> sections_;
};

// GRAPHGATE_* variables of this process.
[[nodiscard]] std::map<std::string, std::string> own_environment();

// Those but those that say where and how loudly, not what.
[[nodiscard]] std::map<std::string, std::string> environ_factors();

// What the process and the machine add. Made once by a store.
struct KeyContext {
  std::map<std::string, std::string> environment = environ_factors();
  std::string profile;  // of upstream versions, or empty
  int rank = 0;
  int data_parallel_rank = 0;
};

// kBadInput, naming the node, for a program with an op that the table lacks.
[[nodiscard]] Result<KeyFactors> folder_factors(const spec::Program& program,
                                                const CompileOptions& options,
                                                bool allow_zero_and_one, const KeyContext& context);
// The same program, ops and guards alone: what an ahead-of-time file was made from.
[[nodiscard]] Result<KeyFactors> program_factors(const spec::Program& program,
                                                 const CompileOptions& options,
                                                 bool allow_zero_and_one);
[[nodiscard]] KeyFactors entry_factors(const PlanRequest& request, const CompileOptions& options);

// Forgets what the deviations forget.
void drop_factors(KeyFactors& factors, const spec::DeviationSet& deviations);

}  // namespace graphgate::optimized
