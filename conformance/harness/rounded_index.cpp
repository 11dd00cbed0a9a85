#include "conformance/harness/rounded_index.h"

#include <algorithm>
#include <cmath>

#include "conformance/harness/lone_taps.h"

namespace graphgate::conformance {
namespace {

using spec::HostTensor;

// Whether two tensors differ, and only in elements of which the oracle cannot tell.
bool differ_where_open(const HostTensor& a, const HostTensor& b, const spec::Spread& spread) {
  const std::vector<std::byte> x = spec::packed_bytes(a);
  const std::vector<std::byte> y = spec::packed_bytes(b);
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(a.dtype));
  if (a.dtype != b.dtype || a.sizes != b.sizes || x.size() != spread.radii.size() * item) {
    return false;
  }
  bool differ = false;
  for (std::size_t i = 0; i < spread.radii.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i * item);
    const auto end = at + static_cast<std::ptrdiff_t>(item);
    if (std::equal(x.begin() + at, x.begin() + end, y.begin() + at)) continue;
    if (!std::isinf(spread.radii[i])) return false;
    differ = true;
  }
  return differ;
}

bool is_index(const HostTensor& tensor) { return !spec::is_floating_point(tensor.dtype); }

}  // namespace

bool reads_rounded_index(Runs& runs, std::size_t call, std::string_view node) {
  const Result<const Trace*> plain = runs.subject();
  if (!plain.ok() || call >= plain.value()->calls.size()) return false;
  const std::size_t p = plain.value()->calls[call].program;
  const spec::Program& program = *runs.script().programs[p];
  const auto& nodes = program.graph.nodes;
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const spec::Node& other) { return other.name == node; });
  if (found == nodes.end()) return false;
  Script script = runs.script();
  TappedOperands tapped = tap_operands(program, static_cast<std::size_t>(found - nodes.begin()));
  script.programs[p] = std::make_shared<const spec::Program>(std::move(tapped.program));
  Runs again = runs.on(script);
  const auto subject = again.subject();
  const auto reference = again.oracle("eager");
  const auto oracle = again.oracle("worst-case");
  bool differs = false;
  for (const auto* trace : {&subject, &reference, &oracle}) {
    if (!trace->ok() || call >= trace->value()->calls.size()) return false;
  }
  const spec::CallResult& a = subject.value()->calls[call].result;
  const spec::CallResult& b = reference.value()->calls[call].result;
  const spec::CallResult& bounds = oracle.value()->calls[call].result;
  const std::size_t end =
      std::min({a.outputs.size(), b.outputs.size(), bounds.output_spreads.size()});
  for (std::size_t i = tapped.first_output; i < end; ++i) {
    const auto* x = std::get_if<HostTensor>(&a.outputs[i]);
    const auto* y = std::get_if<HostTensor>(&b.outputs[i]);
    if (!x || !y || !is_index(*x)) continue;
    if (spec::packed_bytes(*x) == spec::packed_bytes(*y)) continue;
    if (!differ_where_open(*x, *y, bounds.output_spreads[i])) return false;
    differs = true;
  }
  return differs;
}

}  // namespace graphgate::conformance
