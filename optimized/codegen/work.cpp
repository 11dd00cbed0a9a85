#include "optimized/codegen/work.h"

#include <algorithm>
#include <utility>

namespace graphgate::optimized {
namespace {

thread_local const DeviceListener* listener = nullptr;

// The one type that a described launch has inside its std::function, so that it can be asked.
struct Described {
  Launch launch;
  std::shared_ptr<const DeviceWorks> works;
  void operator()() const {
    if (launch) launch();
  }
};

}  // namespace

DeviceListener::DeviceListener(Reserve reserve)
    : DeviceListener(std::move(reserve), listener ? listener->is_constant_ : nullptr) {}
DeviceListener::DeviceListener(Reserve reserve, IsConstant is_constant)
    : reserve_(std::move(reserve)),
      is_constant_(std::move(is_constant)),
      before_(std::exchange(listener, this)) {}
DeviceListener::~DeviceListener() { listener = before_; }
bool DeviceListener::is_there() { return listener != nullptr; }
std::byte* DeviceListener::reserve(std::int64_t size_bytes) {
  return listener && listener->reserve_ ? listener->reserve_(size_bytes) : nullptr;
}
bool DeviceListener::is_fast() { return listener && listener->is_constant_; }
bool DeviceListener::is_constant(const Tensor& tensor) {
  return is_fast() && listener->is_constant_(tensor);
}

Launch described(Launch launch, DeviceWorks works) {
  return Described{std::move(launch), std::make_shared<const DeviceWorks>(std::move(works))};
}

Launch described_if(Launch launch, std::optional<DeviceWorks> works) {
  return works ? described(std::move(launch), *std::move(works)) : std::move(launch);
}

const DeviceWorks* works_of(const Launch& launch) {
  static const DeviceWorks kNothing;
  if (!launch) return &kNothing;
  const auto* told = launch.target<Described>();
  return told ? told->works.get() : nullptr;
}

Launch in_turn(std::vector<Launch> launches) {
  std::erase_if(launches, [](const Launch& launch) { return !launch; });
  if (launches.empty()) return {};
  if (launches.size() == 1) return std::move(launches.front());
  DeviceWorks works;
  bool is_told = DeviceListener::is_there();
  for (const Launch& launch : launches) {
    const DeviceWorks* one = works_of(launch);
    is_told &= one != nullptr;
    if (is_told) works.insert(works.end(), one->begin(), one->end());
  }
  Launch all = [launches = std::move(launches)] {
    for (const Launch& launch : launches) launch();
  };
  if (!is_told) return all;
  return described(std::move(all), std::move(works));
}

}  // namespace graphgate::optimized
