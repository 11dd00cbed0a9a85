#include "optimized/runtime/device/call_order.h"

#include <algorithm>
#include <map>
#include <utility>

#include "optimized/codegen/join_works.h"

namespace graphgate::optimized {
namespace {

using spec::EventId;

// Takes steps in program order. What a stream has not launched yet stands open.
class Steps {
 public:
  explicit Steps(DeviceProgramText& text) : text_(text) {}

  void add(const DeviceStep& step) {
    Stream& stream = streams_[step.stream];
    if (!step.waits.empty()) launch(step.stream, stream);
    for (const EventId event : step.waits) wait(stream, event);
    if (stream.open.empty()) stream.steps.first = step.step;
    stream.steps.last = step.step;
    stream.open.insert(stream.open.end(), step.works->begin(), step.works->end());
    if (!step.records.empty()) launch(step.stream, stream);
    for (const EventId event : step.records) record(stream, event);
  }

  StepCalls finish() {
    for (auto& [number, stream] : streams_) launch(number, stream);
    return std::move(out_);
  }

 private:
  struct Stream {
    DeviceWorks open;
    StepRange steps;                  // of the open works
    std::vector<EventId> waits;       // before the next call
    std::optional<std::size_t> last;  // call
  };

  void launch(std::uint32_t number, Stream& stream) {
    std::vector<DeviceCall> calls = text_.add(join_works(std::exchange(stream.open, {})));
    if (calls.empty()) return;
    calls.front().waits = std::exchange(stream.waits, {});
    for (DeviceCall& call : calls) {
      call.stream = number;
      out_.calls.push_back(std::move(call));
      out_.steps.push_back(stream.steps);
    }
    stream.last = out_.calls.size() - 1;
  }

  void wait(Stream& stream, EventId event) {
    for (const EventId one : stands_for_[event]) {
      const auto& waits = stream.waits;
      if (std::ranges::find(waits, one) == waits.end()) stream.waits.push_back(one);
    }
  }

  // Steps that launch nothing may wait and record: what they wait for is waited for by whoever
  // waits for them.
  void record(Stream& stream, EventId event) {
    std::vector<EventId> behind = stream.waits;
    if (stream.last) {
      out_.calls[*stream.last].records.push_back(event);
      behind.push_back(event);
    }
    stands_for_[event] = std::move(behind);
  }

  DeviceProgramText& text_;
  std::map<std::uint32_t, Stream> streams_;
  std::map<EventId, std::vector<EventId>> stands_for_;
  StepCalls out_;
};

}  // namespace

std::vector<CallPlace> places_of(std::span<const DeviceCall> calls) {
  std::vector<CallPlace> out(calls.size());
  std::map<std::uint32_t, std::size_t> last;  // by stream
  std::map<EventId, std::size_t> recorder;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const DeviceCall& call = calls[c];
    std::map<std::uint32_t, std::size_t> awaited;  // by stream
    for (const EventId event : call.waits) {
      const auto at = recorder.find(event);
      if (at == recorder.end() || calls[at->second].stream == call.stream) continue;
      std::size_t& there = awaited[calls[at->second].stream];
      there = std::max(there, at->second);
    }
    for (const auto& [stream, other] : awaited) out[c].awaited.push_back(other);
    std::ranges::sort(out[c].awaited);
    if (const auto at = last.find(call.stream); at != last.end()) out[c].ahead = at->second;
    last[call.stream] = c;
    for (const EventId event : call.records) recorder[event] = c;
  }
  return out;
}

std::vector<CapturedEdge> edges_of(std::span<const CallPlace> places, bool overlap) {
  std::vector<CapturedEdge> out;
  for (std::size_t c = 0; c < places.size(); ++c) {
    const CallPlace& place = places[c];
    if (place.ahead) out.push_back({*place.ahead, c, overlap && place.is_behind_one() ? 1U : 0U});
    for (const std::size_t other : place.awaited) out.push_back({other, c, 0});
  }
  std::ranges::sort(out);
  return out;
}

void add_behind_all(std::vector<DeviceCall>& calls, DeviceCall last) {
  std::uint32_t next_event = 0;
  std::map<std::uint32_t, std::size_t> last_of;  // by stream
  for (std::size_t c = 0; c < calls.size(); ++c) {
    last_of[calls[c].stream] = c;
    for (const auto* events : {&calls[c].waits, &calls[c].records}) {
      for (const EventId event : *events) next_event = std::max(next_event, event.index + 1);
    }
  }
  last.stream = 0;
  for (const auto& [stream, c] : last_of) {
    if (stream == 0) continue;
    calls[c].records.push_back({next_event});
    last.waits.push_back({next_event++});
  }
  calls.push_back(std::move(last));
}

StepCalls calls_of_steps(DeviceProgramText& text, std::span<const DeviceStep> steps) {
  Steps streams(text);
  for (const DeviceStep& step : steps) streams.add(step);
  return streams.finish();
}

}  // namespace graphgate::optimized
