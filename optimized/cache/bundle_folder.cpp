#include "optimized/cache/bundle_folder.h"

#include <cctype>

namespace graphgate::optimized {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

class BundleFolder final : public PlanStore {
 public:
  explicit BundleFolder(BundleFolderOptions options) : options_(std::move(options)) {}

  Result<std::unique_ptr<PlanCache>> open(const spec::Program& program,
                                          const CompileOptions& compile,
                                          bool allow_zero_and_one) override {
    const std::filesystem::path file = bundle_file(options_.folder, program.name);
    Opened& opened = opened_[file.string()];
    if (!opened.store) {
      std::error_code error;
      if (std::filesystem::exists(file, error)) {
        GRAPHGATE_TRY(opened.store, BundleStore::load(file, options_.bundle));
      } else {
        opened.store = BundleStore::make(options_.bundle);
      }
      opened.plans_in_file = opened.store->plan_count();
    }
    if (options_.deviations.has(spec::Deviation::kServesForeignBundle))
      opened.store->forget_source();
    auto cache = opened.store->open(program, compile, allow_zero_and_one);
    if (!cache.ok()) return cache.error().at(file.string());
    return cache;
  }

  Result<void> close() override {
    for (auto& [file, opened] : opened_) {
      const std::size_t plans = opened.store ? opened.store->plan_count() : 0;
      if (plans <= opened.plans_in_file) continue;
      GRAPHGATE_TRY_VOID(opened.store->save(file));
      opened.plans_in_file = plans;
    }
    return {};
  }

 private:
  struct Opened {
    std::shared_ptr<BundleStore> store;
    std::size_t plans_in_file = 0;
  };

  const BundleFolderOptions options_;
  std::map<std::string, Opened> opened_;  // by file
};

}  // namespace

std::filesystem::path bundle_file(const std::filesystem::path& folder, std::string_view program) {
  std::string name;
  for (const char c : program) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(byte) != 0 || c == '_' || c == '-' || c == '.';
    if (is_plain) {
      name += c;
    } else {
      name += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return folder / (name + ".ggbundle");
}

std::shared_ptr<PlanStore> make_bundle_folder(BundleFolderOptions options) {
  return std::make_shared<BundleFolder>(std::move(options));
}

}  // namespace graphgate::optimized
