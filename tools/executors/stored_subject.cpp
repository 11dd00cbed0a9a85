#include "tools/executors/stored_subject.h"

namespace graphgate::tools {
namespace {

class StoredSubject final : public Subject {
 public:
  explicit StoredSubject(const RunHead& head) : name_(head.executor), promises_(head.promises) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] bool takes(std::string_view /*option*/) const override { return true; }
  [[nodiscard]] conformance::Promises promises(
      const conformance::Configuration& /*options*/) const override {
    return promises_;
  }
  [[nodiscard]] Result<std::unique_ptr<spec::Executor>> make(
      const conformance::Configuration& configuration,
      const spec::OpTable& /*ops*/) const override {
    return unsupported("the stored run has none of the configuration " +
                       conformance::print_configuration(configuration));
  }

 private:
  std::string name_;
  conformance::Promises promises_;
};

}  // namespace

std::unique_ptr<Subject> stored_subject(const RunHead& head) {
  return std::make_unique<StoredSubject>(head);
}

}  // namespace graphgate::tools
