#include "conformance/judges/byte_reads.h"

#include <algorithm>

#include "conformance/judges/exact_data.h"
#include "conformance/judges/flips.h"
#include "conformance/run/runs.h"

namespace graphgate::conformance {
namespace {

using spec::HostTensor;

// The nodes up to `node`, whose results are all that is returned.
spec::Program up_to(const spec::Program& whole, std::size_t node) {
  spec::Program out = whole;
  out.graph.nodes.resize(node + 1);
  out.graph.outputs.clear();
  out.outputs.clear();
  for (const spec::NodeResult& result : out.graph.nodes[node].results) {
    for (const spec::ValueId id : result.values) {
      const spec::ValueKind kind = out.graph.value(id).kind;
      if (kind == spec::ValueKind::kNone || kind == spec::ValueKind::kTensorList) continue;
      out.graph.outputs.push_back({id});
      out.outputs.push_back({spec::OutputKind::kUserOutput, ""});
    }
  }
  return out;
}

// Packed, and 1 everywhere: 1 + 1j of a complex dtype.
HostTensor ones_like(const HostTensor& tensor) {
  HostTensor made = spec::make_host_tensor(tensor.dtype, tensor.sizes, tensor.device);
  const spec::DType part = spec::component_dtype(tensor.dtype);
  const auto item = static_cast<std::size_t>(spec::item_size_bytes(part));
  for (std::size_t at = 0; at + item <= made.storage->bytes.size(); at += item) {
    if (spec::is_floating_point(part)) {
      write_integer(made.storage->bytes.data() + at, part, 1);
    } else {
      made.storage->bytes[at] = std::byte{1};
    }
  }
  return made;
}

bool same_outputs(const spec::CallResult& x, const spec::CallResult& y) {
  if (x.outputs.size() != y.outputs.size()) return false;
  for (std::size_t i = 0; i < x.outputs.size(); ++i) {
    const auto* a = std::get_if<HostTensor>(&x.outputs[i]);
    const auto* b = std::get_if<HostTensor>(&y.outputs[i]);
    if (!a != !b) return false;
    if (a && spec::packed_bytes(*a) != spec::packed_bytes(*b)) return false;
    // Numbers are read off bytes, or follow from sizes: only the former change.
    if (!a && x.outputs[i].index() == y.outputs[i].index()) {
      const auto* p = std::get_if<std::int64_t>(&x.outputs[i]);
      const auto* q = std::get_if<std::int64_t>(&y.outputs[i]);
      if (p && q && *p != *q) return false;
    }
  }
  return true;
}

// One input of one program, in the script's first call of it.
class ByteReads {
 public:
  ByteReads(Runs& runs, std::size_t program, const std::string& target, std::uint64_t seed)
      : runs_(runs), program_(program), target_(target), seed_(seed) {}

  Result<bool> run() {
    const spec::Program& whole = *runs_.script().programs[program_];
    if (!find_place(whole)) return true;
    for (std::size_t n = 0; n < whole.graph.nodes.size(); ++n) {
      bool uses = false;
      spec::for_each_operand(whole.graph.nodes[n], [&](spec::ValueId id) { uses |= id == value_; });
      if (!uses) continue;
      GRAPHGATE_TRY(const bool reads, node_reads(n));
      if (reads) return true;
    }
    return false;
  }

 private:
  bool find_place(const spec::Program& whole) {
    std::size_t user_inputs = 0;
    for (const spec::ProgramInput& input : whole.inputs) {
      const bool is_user = input.kind == spec::InputKind::kUserInput;
      if (is_user && input.constant) continue;
      if (input.target == target_) {
        is_user_ = is_user;
        user_input_ = user_inputs;
        value_ = input.value;
        return true;
      }
      user_inputs += is_user ? 1 : 0;
    }
    return false;
  }

  Result<bool> node_reads(std::size_t node) {
    const auto& steps = runs_.script().steps;
    const auto first = std::ranges::find_if(steps, [&](const ScriptStep& step) {
      const auto* call = std::get_if<ScriptCall>(&step);
      return call && call->program == program_;
    });
    if (first == steps.end()) return true;
    Script script = runs_.script();
    script.steps = {*first};
    script = with_exact_data(script, exact_levels().front(), seed_);  // no zeros that hide it
    script.programs[program_] =
        std::make_shared<spec::Program>(up_to(*script.programs[program_], node));
    const HostTensor* contents = contents_in(script);
    if (!contents) return true;
    const HostTensor ones = ones_like(*contents);
    GRAPHGATE_TRY(const Trace base, run_with(script, ones));
    if (base.error || base.calls.empty()) return true;
    for (const Flip flip : {Flip::kAll, Flip::kOneElement}) {
      const auto others = flipped(ones, flip, seed_);
      if (!others) continue;
      GRAPHGATE_TRY(const Trace changed, run_with(script, *others));
      if (changed.error || changed.calls.empty()) return true;
      if (!same_outputs(changed.calls[0].result, base.calls[0].result)) return true;
    }
    return false;
  }

  // The tensor in the script; null for a number.
  [[nodiscard]] const HostTensor* contents_in(const Script& script) const {
    if (is_user_) {
      const auto& inputs = std::get<ScriptCall>(script.steps[0]).inputs;
      return user_input_ < inputs.size() ? std::get_if<HostTensor>(&inputs[user_input_]) : nullptr;
    }
    const auto& tensors = script.programs[program_]->tensors;
    const auto found = tensors.find(target_);
    return found == tensors.end() ? nullptr : &found->second;
  }

  Result<Trace> run_with(const Script& script, const HostTensor& contents) {
    Script changed = script;
    if (is_user_) {
      std::get<ScriptCall>(changed.steps[0]).inputs[user_input_] = contents;
    } else {
      auto program = std::make_shared<spec::Program>(*changed.programs[program_]);
      program->tensors.at(target_) = contents;
      changed.programs[program_] = std::move(program);
    }
    return runs_.oracle_on(changed, "eager");
  }

  Runs& runs_;
  std::size_t program_;
  const std::string& target_;
  std::uint64_t seed_;
  bool is_user_ = false;
  std::size_t user_input_ = 0;
  spec::ValueId value_;
};

}  // namespace

Result<bool> reads_bytes(Runs& runs, std::size_t program, const std::string& target,
                         std::uint64_t seed) {
  return ByteReads(runs, program, target, seed).run();
}

}  // namespace graphgate::conformance
