#include "optimized/cache/bundle.h"

#include "base/atomic_file.h"
#include "base/sha256.h"
#include "optimized/cache/byte_stream.h"
#include "optimized/cache/disk_cache.h"
#include "optimized/cache/plan_codec.h"

namespace graphgate::optimized {

template <>
struct Codec<KeyFactors> {
  static void write(ByteWriter& out, const KeyFactors& factors) { out(factors.sections()); }
  static void read(ByteReader& in, KeyFactors& factors) { in(factors.sections()); }
};

namespace {
constexpr std::string_view kMagic = "ggbundle";
constexpr std::uint64_t kVersion = 1;
constexpr std::int64_t kMostBundleBytes = 16 * kMostFileBytes;

// "partition.split_ops, toolchain.code": enough to know what to look for.
std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kShown ? text + ", ..." : text;
}
}  // namespace

class BundleStore::Cache final : public PlanCache {
 public:
  Cache(std::shared_ptr<BundleStore> store, const spec::Program& program,
        const CompileOptions& compile)
      : store_(std::move(store)), program_(program), compile_(compile) {}

  std::optional<spec::Plan> lookup(const PlanRequest& request) override {
    const auto entry = store_->entries_.find(entry_factors(request, compile_).text());
    if (entry == store_->entries_.end()) {
      count(&CompileCounters::cache_misses);
      return std::nullopt;
    }
    auto plan = decode_plan(store_->artifacts_.at(entry->second));
    if (!plan.ok() ||
        !check_stored_plan(plan.value(), program_, *request.symbols, *compile_.ops).ok()) {
      count(&CompileCounters::entries_rejected);
      count(&CompileCounters::cache_misses);
      return std::nullopt;
    }
    count(&CompileCounters::cache_hits);
    count(&CompileCounters::artifacts_loaded);
    return std::move(plan).value();
  }

  void store(const PlanRequest& request, const spec::Plan& plan) override {
    std::string bytes = encode_plan(plan);
    std::string hash = sha256_hex(bytes);
    if (store_->artifacts_.try_emplace(hash, std::move(bytes)).second) {
      count(&CompileCounters::artifacts_saved);
    }
    store_->entries_.insert_or_assign(entry_factors(request, compile_).text(), std::move(hash));
    count(&CompileCounters::entries_saved);
  }

 private:
  void count(std::int64_t CompileCounters::*counter) const {
    if (store_->options_.counters != nullptr) ++(store_->options_.counters->*counter);
  }

  const std::shared_ptr<BundleStore> store_;
  const spec::Program& program_;
  const CompileOptions& compile_;
};

std::shared_ptr<BundleStore> BundleStore::make(BundleOptions options) {
  return std::shared_ptr<BundleStore>(new BundleStore(std::move(options)));
}

Result<std::shared_ptr<BundleStore>> BundleStore::load(const std::filesystem::path& path,
                                                       BundleOptions options) {
  GRAPHGATE_TRY(const std::optional<std::string> bytes, read_file(path, kMostBundleBytes));
  if (!bytes) return bad_input(path.string() + ": no such file");
  auto store = make(std::move(options));
  const auto read = store->read(*bytes);
  if (!read.ok()) return read.error().at(path.string());
  return store;
}

Result<void> BundleStore::read(std::string_view bytes) {
  const std::string_view title = bytes.substr(0, std::min(bytes.size(), kMagic.size() + 1));
  if (title.size() <= kMagic.size() || title.substr(1) != kMagic) {
    return bad_input("this is no ahead-of-time file");
  }
  if (bytes.size() < title.size() + kSha256Digits) return bad_input("the file is cut");
  const std::string_view payload = bytes.substr(0, bytes.size() - kSha256Digits);
  if (sha256_hex(payload) != bytes.substr(payload.size())) {
    return bad_input("the checksum is wrong: the file is damaged or cut");
  }
  ByteReader in(payload);
  (void)in.raw();
  if (in.number() != kVersion) return bad_input("the file is of another version");
  std::vector<std::string> artifacts;
  std::map<std::string, std::uint32_t> entries;
  in(factors_.emplace());
  for (std::uint64_t left = in.count(); left > 0; --left) artifacts.emplace_back(in.raw());
  in(entries);
  if (!in.ok()) return bad_input("the file is damaged");
  for (const auto& [factors, index] : entries) {
    if (index >= artifacts.size()) return bad_input("the file is damaged");
    const std::string& artifact = artifacts[index];
    artifacts_.try_emplace(entries_[factors] = sha256_hex(artifact), artifact);
  }
  return {};
}

Result<std::unique_ptr<PlanCache>> BundleStore::open(const spec::Program& program,
                                                     const CompileOptions& options,
                                                     bool allow_zero_and_one) {
  GRAPHGATE_TRY(KeyFactors factors,
                folder_factors(program, options, allow_zero_and_one, options_.context));
  if (factors_ && *factors_ != factors) {
    return bad_input("the ahead-of-time file was made from something else: " +
                     first_of(KeyFactors::differences(*factors_, factors)) + " differ");
  }
  factors_ = std::move(factors);
  return std::unique_ptr<PlanCache>(std::make_unique<Cache>(shared_from_this(), program, options));
}

Result<void> BundleStore::save(const std::filesystem::path& path) const {
  if (!factors_ || entries_.empty()) {
    return bad_input(path.string() + ": there is no plan to save: nothing has been compiled");
  }
  ByteWriter out;
  out.raw(kMagic);
  out.number(kVersion);
  out(*factors_);
  std::map<std::string, std::uint32_t> indices;
  out.number(artifacts_.size());
  for (const auto& [hash, bytes] : artifacts_) {
    indices.emplace(hash, static_cast<std::uint32_t>(indices.size()));
    out.raw(bytes);
  }
  std::map<std::string, std::uint32_t> entries;
  for (const auto& [factors, hash] : entries_) entries.emplace(factors, indices.at(hash));
  out(entries);
  std::string bytes = out.take();
  bytes += sha256_hex(bytes);
  return write_file(path, bytes);
}

}  // namespace graphgate::optimized
