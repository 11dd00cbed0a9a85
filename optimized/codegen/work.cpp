#include "optimized/codegen/work.h"

#include <algorithm>
#include <utility>

namespace graphgate::optimized {
Launch described(Launch launch, DeviceWorks works) {
  launch.works = std::make_shared<const DeviceWorks>(std::move(works));
  return launch;
}

Launch described_if(Launch launch, std::optional<DeviceWorks> works) {
  return works ? described(std::move(launch), *std::move(works)) : std::move(launch);
}

const DeviceWorks* works_of(const Launch& launch) {
  static const DeviceWorks kNothing;
  return launch ? launch.works.get() : &kNothing;
}

Launch in_turn(std::vector<Launch> launches) {
  std::erase_if(launches, [](const Launch& launch) { return !launch; });
  if (launches.empty()) return {};
  if (launches.size() == 1) return std::move(launches.front());
  DeviceWorks works;
  bool is_told = true;
  for (const Launch& launch : launches) {
    is_told &= launch.works != nullptr;
    if (is_told) works.insert(works.end(), launch.works->begin(), launch.works->end());
  }
  std::vector<std::function<void()>> runs;
  for (Launch& launch : launches) {
    if (launch.run) runs.push_back(std::move(launch.run));
  }
  Launch all = [runs = std::move(runs)] {
    for (const auto& run : runs) run();
  };
  if (!is_told) return all;
  return described(std::move(all), std::move(works));
}

}  // namespace graphgate::optimized
