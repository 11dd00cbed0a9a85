// ShadowInstrument: what depends on rows of the pad, found out by a second world.
//
// In the twin the pad holds other garbage: NaN where there are floats, and in integers and booleans
// (which may be indices) a row of the call's own. A launch that reads a byte in which the worlds
// differ runs in both. What differs at the end of a call depends on the pad.
#include <algorithm>
#include <charconv>

#include "optimized/runtime/host/copy_in.h"
#include "optimized/runtime/host/shadow.h"

namespace graphgate::optimized {
namespace {

constexpr std::size_t kNodesNamed = 8;

std::vector<ShadowRange> absolute_runs(const Tensor& tensor) {
  std::vector<ShadowRange> runs = byte_runs(tensor);
  for (ShadowRange& run : runs) {
    run = {address_of(tensor.bytes) + run.begin, address_of(tensor.bytes) + run.end};
  }
  return runs;
}

}  // namespace

void ShadowInstrument::begin_twin() {
  twin_.clear();
  reached_.clear();
  pad_refused_ = false;
  const bool has_pad =
      std::ranges::any_of(memory_.pads, [](const InputPad& pad) { return pad.rows.count() > 0; });
  if (!has_pad) return;
  std::vector<std::span<const std::byte>> spans;
  for (const auto* list : {&memory_.pools, &memory_.buffers}) {
    spans.insert(spans.end(), list->begin(), list->end());
  }
  twin_.build(std::move(spans));
  for (const InputPad& pad : memory_.pads) fill_twin(pad);
}

// Other garbage for one slot, written in memory, taken into the twin, and put back.
void ShadowInstrument::fill_twin(const InputPad& pad) {
  const Tensor& rows = pad.rows;
  if (rows.count() == 0) return;
  const auto runs = absolute_runs(rows);
  ShadowImage before;
  std::vector<std::span<const std::byte>> spans;
  spans.reserve(runs.size());
  for (const ShadowRange& run : runs) {
    spans.emplace_back(bytes_at(run.begin), static_cast<std::size_t>(run.end - run.begin));
  }
  before.build(std::move(spans));
  if (spec::is_floating_point(rows.dtype) || spec::is_complex(rows.dtype)) {
    for (const ShadowRange& run : runs) {
      // A NaN in every floating dtype.
      std::fill(bytes_at(run.begin), bytes_at(run.end), std::byte{0xFF});
    }
  } else if (memory_.true_size > 0) {
    // The last true row once for every row of the pad.
    Tensor last = rows;
    last.offset -= rows.strides[pad.dim];
    Sizes stretched = rows.strides;
    stretched[pad.dim] = 0;
    copy_elements(last.data(), stretched, rows.data(), rows.strides, rows.sizes, rows.item_bytes());
  }
  for (const ShadowRange& run : runs) twin_.take(run);
  for (const ShadowRange& run : runs) before.put(run);
}

// The launch in the twin's world, where that reads something else.
void ShadowInstrument::launch_twin(const BoundStep& step, const ShadowAccesses& accesses,
                                   const Launch& launch) {
  if (twin_.empty() || !launch) return;
  std::vector<ShadowRange> other;
  for (const ShadowRead& read : accesses.reads) {
    for (const ShadowRange& range : read.bytes.ranges) {
      if (twin_.differs(read.bytes.absolute(range))) other.push_back(read.bytes.absolute(range));
    }
  }
  if (other.empty()) return;
  std::vector<ShadowRange> written;
  for (const ShadowWritten& write : accesses.writes) {
    for (const ShadowRange& range : write.bytes.ranges) {
      written.push_back(write.bytes.absolute(range));
    }
  }
  std::vector<ShadowRange> touched = written;
  touched.insert(touched.end(), other.begin(), other.end());
  std::vector<std::span<const std::byte>> spans;
  spans.reserve(touched.size() + 1);
  for (const ShadowRange& range : touched) {
    spans.emplace_back(bytes_at(range.begin), static_cast<std::size_t>(range.end - range.begin));
  }
  if (!step.workspace.empty()) spans.emplace_back(step.workspace);
  ShadowImage before;
  before.build(spans);
  for (const ShadowRange& range : touched) twin_.put(range);
  try {
    launch.run();
  } catch (const OpError& error) {
    pad_refused_ = true;
    refused_for_pad(step, error.what());
  }
  twin_ran_ = true;
  for (const ShadowRange& range : written) twin_.take(range);
  for (const auto& span : spans) {
    before.put({address_of(span.data()), address_of(span.data()) + std::ssize(span)});
  }
}

// One world goes on, the other does not.
void ShadowInstrument::refused_for_pad(const BoundStep& step, const std::string& why) {
  const std::string& name = step.calls.front().node->name;
  spec::Finding finding{.rule = "S5.pad-read",
                        .message = "step " + std::to_string(step.step) + " '" + name +
                                   "' refuses what stands in rows of the pad: " + why,
                        .nodes = {name}};
  add(std::move(finding));
}

// What the worlds make alike is alike again; what they do not has been reached by the pad.
void ShadowInstrument::after_twin(const BoundStep& step, const ShadowAccesses& accesses) {
  if (twin_.empty()) return;
  bool differs = false;
  for (const ShadowWritten& write : accesses.writes) {
    for (const ShadowRange& range : write.bytes.ranges) {
      if (!twin_ran_) twin_.take(write.bytes.absolute(range));
      differs = differs || (twin_ran_ && twin_.differs(write.bytes.absolute(range)));
    }
  }
  if (differs) reached_.push_back(step.calls.back().node->name);
  twin_ran_ = false;
}

// The dimension along which a port is cut to the true size.
std::optional<std::uint32_t> ShadowInstrument::cut_dim(std::string_view port) const {
  const spec::Plan& plan = *memory_.plan;
  if (!plan.padding) return {};
  constexpr std::string_view kOutput = "output ";
  if (port.starts_with(kOutput)) {
    std::size_t index = plan.outputs.size();
    const std::string_view digits = port.substr(kOutput.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), index);
    return index < plan.outputs.size() ? plan.padding->output_dims[index] : std::nullopt;
  }
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    if (port == "input " + plan.inputs[i].target) return plan.padding->input_dims[i];
  }
  return {};
}

void ShadowInstrument::check_pads(std::string_view port, const Tensor& tensor) {
  if (twin_.empty() || pad_refused_) return;
  Tensor real = tensor;
  const auto dim = cut_dim(port);
  if (dim && *dim < real.sizes.size()) {
    real.sizes[*dim] = std::min(real.sizes[*dim], memory_.true_size);
  }
  if (real.count() == 0) return;
  const std::int64_t base = address_of(tensor.bytes);
  std::vector<ShadowRange> hit;
  for (const ShadowRange& run : absolute_runs(real)) {
    const auto found = twin_.differences(run);
    hit.insert(hit.end(), found.begin(), found.end());
  }
  if (hit.empty()) return;
  spec::Finding finding;
  finding.rule = "S5.pad-read";
  const ShadowRange first{hit.front().begin - base, hit.front().end - base};
  finding.message = "bytes " + print_range(first) + " of " + std::string(port) + " (" +
                    book_.buffer_name(tensor.storage) + ") depend on rows behind the true size " +
                    std::to_string(memory_.true_size) + " of '" + memory_.plan->padding->symbol +
                    "'";
  actual_.for_each({hit.front().begin, hit.front().begin + 1},
                   [&](std::int64_t, std::int64_t, ShadowTag tag) {
                     if (tag != kNoTag) finding.message += "; they are of " + book_.maker(tag);
                   });
  if (!reached_.empty()) finding.message += "; the pad came through";
  for (std::size_t i = 0; i < reached_.size() && i < kNodesNamed; ++i) {
    finding.message += (i == 0 ? " '" : ", '") + reached_[i] + "'";
    finding.nodes.push_back(reached_[i]);
  }
  finding.buffers.push_back(book_.plain_name(tensor.storage));
  book_.add_ranges(tensor.storage, first, finding.ranges);
  add(std::move(finding));
}

}  // namespace graphgate::optimized
