// What graphs cost, measured on more of them: for benchmarks.
#include <algorithm>
#include <chrono>

#include "optimized/runtime/cuda/cuda_run.h"

namespace graphgate::optimized::cuda {
namespace {

// Seconds on the wall, from one call to the next.
class Laps {
 public:
  double next() {
    const Clock::time_point begin = std::exchange(begin_, Clock::now());
    return std::chrono::duration<double>(begin_ - begin).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

std::int64_t free_memory(const Driver& driver) {
  std::size_t free = 0;
  std::size_t total = 0;
  GRAPHGATE_CUDA(driver, cuMemGetInfo, &free, &total);
  return static_cast<std::int64_t>(free);
}

}  // namespace

std::optional<GraphCost> CudaRun::measure_graph(int most) {
  constexpr int kLeast = 16;  // for a median
  constexpr int kSteps = 32;  // of free memory: a few percent of what one takes, at worst
  if (graph_.get() == nullptr) return {};
  std::vector<double> capture_seconds;
  std::vector<double> instantiate_seconds;
  std::vector<double> upload_seconds;
  std::vector<GraphExec> kept;
  GRAPHGATE_CUDA(driver_, cuStreamSynchronize, stream_);
  std::vector<std::int64_t> free_bytes = {free_memory(driver_)};
  int copies = 0;
  for (int steps = 0; copies < most && (copies < kLeast || steps < kSteps); ++copies) {
    Laps laps;
    const Graph graph = capture();
    capture_seconds.push_back(laps.next());
    kept.push_back(instantiate(graph.get()));
    instantiate_seconds.push_back(laps.next());
    GRAPHGATE_CUDA(driver_, cuGraphUpload, kept.back().get(), stream_);
    GRAPHGATE_CUDA(driver_, cuStreamSynchronize, stream_);
    upload_seconds.push_back(laps.next());
    free_bytes.push_back(free_memory(driver_));
    if (free_bytes.back() < free_bytes[free_bytes.size() - 2]) ++steps;
  }
  return GraphCost{copies, median(std::move(capture_seconds)),
                   median(std::move(instantiate_seconds)), median(std::move(upload_seconds)),
                   bytes_of_each(free_bytes)};
}

}  // namespace graphgate::optimized::cuda
