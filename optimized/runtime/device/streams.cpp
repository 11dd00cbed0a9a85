#include "optimized/runtime/device/streams.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace graphgate::optimized {
namespace {

constexpr std::uint64_t kMostChanges = 3;

class Interleaver {
 public:
  Interleaver(std::span<const QueuedLaunch> launches, std::uint64_t seed)
      : random_(seed), launches_(launches), done_(launches.size(), false) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_stream;
    for (std::uint32_t i = 0; i < launches.size(); ++i) {
      by_stream[launches[i].stream].push_back(i);
    }
    for (auto& [stream, queue] : by_stream) streams_.push_back({std::move(queue), 0});
  }

  std::vector<std::uint32_t> run() {
    // Not std::shuffle: its draws differ between standard libraries.
    for (std::size_t i = streams_.size(); i > 1; --i) std::swap(streams_[i - 1], streams_[draw(i)]);
    std::vector<std::size_t> changes(draw(kMostChanges + 1));
    for (std::size_t& change : changes) change = draw(done_.size());
    std::vector<std::uint32_t> order;
    order.reserve(done_.size());
    while (order.size() < done_.size()) {
      if (std::ranges::find(changes, order.size()) != changes.end()) {
        std::rotate(streams_.begin(), streams_.begin() + 1, streams_.end());
      }
      order.push_back(take_next());
    }
    return order;
  }

 private:
  struct Stream {
    std::vector<std::uint32_t> launches;
    std::size_t next = 0;
  };

  std::size_t draw(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  // They wait for those before them only, so the first that has not run can always go.
  std::uint32_t take_next() {
    for (Stream& stream : streams_) {
      if (stream.next == stream.launches.size()) continue;
      const std::uint32_t launch = stream.launches[stream.next];
      const std::vector<std::uint32_t>& behind = launches_[launch].behind;
      const bool can_go =
          std::ranges::all_of(behind, [&](std::uint32_t earlier) { return done_[earlier]; });
      if (!can_go) continue;
      ++stream.next;
      done_[launch] = true;
      return launch;
    }
    GRAPHGATE_CHECK(false);
    return 0;
  }

  std::mt19937_64 random_;
  std::span<const QueuedLaunch> launches_;
  std::vector<Stream> streams_;  // in the order of their priorities
  std::vector<bool> done_;
};

}  // namespace

std::vector<std::uint32_t> interleave_launches(std::span<const QueuedLaunch> launches,
                                               std::uint64_t seed) {
  if (seed != 0 && !launches.empty()) return Interleaver(launches, seed).run();
  std::vector<std::uint32_t> order(launches.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::vector<std::uint32_t> interleave(std::span<const spec::PlanStep> steps, std::uint64_t seed) {
  std::vector<QueuedLaunch> launches;
  launches.reserve(steps.size());
  std::map<spec::EventId, std::uint32_t> recorder;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    QueuedLaunch& launch = launches.emplace_back();
    launch.stream = steps[s].stream;
    for (const spec::EventId event : steps[s].waits) {
      const auto at = recorder.find(event);
      if (at != recorder.end()) launch.behind.push_back(at->second);
    }
    for (const spec::EventId event : steps[s].records) recorder[event] = s;
  }
  return interleave_launches(launches, seed);
}

}  // namespace graphgate::optimized
