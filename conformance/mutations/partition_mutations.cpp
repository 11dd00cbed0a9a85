// Mutations of partitions: what is captured, where it is cut, and what crosses the edges.
#include <algorithm>
#include <set>
#include <string>

#include "conformance/mutations/mutation_sites.h"

namespace graphgate::conformance {
namespace {

using spec::BufferId;
using spec::Plan;
using spec::PlanPartition;
using spec::PlanSignature;
using spec::PoolKind;
using spec::SignatureInput;

using Change = std::function<void(Plan&, PlanPartition&)>;

// A change of one partition, by its place.
void add_site(Sites& sites, std::size_t block, std::size_t partition, Change change) {
  sites.emplace_back([block, partition, change = std::move(change)](Plan& p) {
    change(p, p.blocks[block].partitions[partition]);
  });
}

template <class Visit>
void for_each_partition(const Plan& plan, Visit&& visit) {
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    for (std::size_t i = 0; i < plan.blocks[b].partitions.size(); ++i) {
      visit(b, i, plan.blocks[b].partitions[i]);
    }
  }
}

// --- Capture and cuts ---------------------------------------------------------------------------

// Whether the plan itself shows that the partition cannot be captured: a conditional, numbers that
// only a call can tell, memory of the heap, two devices. (Others are eager by choice.)
bool needs_the_host(const Plan& plan, const PlanPartition& partition) {
  std::set<std::string> devices;
  bool found = false;
  const auto look = [&](spec::ValueId id) {
    const spec::PlanValue& value = plan.values[id.index];
    if (value.value.type) devices.insert(value.value.type->device.type);
    const bool is_heap =
        value.buffer &&
        plan.pools[plan.buffers[value.buffer->index].pool.index].kind == PoolKind::kHeap;
    found = found || is_heap || value.value.kind != spec::ValueKind::kTensor;
  };
  for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
    found = found || runs_blocks(plan.steps[s]);
    for (const spec::Node& node : nodes_of(plan.steps[s])) {
      spec::for_each_operand(node, look);
      for (const spec::NodeResult& result : node.results) {
        std::ranges::for_each(result.values, look);
      }
    }
  }
  return found || devices.size() > 1;
}

Sites captured_eager_ones(const Plan& plan) {
  Sites sites;
  for_each_partition(plan, [&](std::size_t b, std::size_t i, const PlanPartition& partition) {
    if (partition.captured || !needs_the_host(plan, partition)) return;
    add_site(sites, b, i, [](Plan&, PlanPartition& p) {
      p.captured = true;
      p.reason.clear();
    });
  });
  return sites;
}

Sites dropped_reasons(const Plan& plan) {
  Sites sites;
  for_each_partition(plan, [&](std::size_t b, std::size_t i, const PlanPartition& partition) {
    if (partition.captured) return;
    add_site(sites, b, i, [](Plan&, PlanPartition& p) { p.reason.clear(); });
  });
  return sites;
}

void merge_into(PlanSignature& into, const PlanSignature& from) {
  for (const SignatureInput& input : from.inputs) {
    const auto is_made = std::ranges::count(into.outputs, input.buffer) > 0;
    if (!is_made) into.inputs.push_back(input);
  }
  into.outputs.insert(into.outputs.end(), from.outputs.begin(), from.outputs.end());
  into.constants.insert(into.constants.end(), from.constants.begin(), from.constants.end());
  into.symbols.insert(into.symbols.end(), from.symbols.begin(), from.symbols.end());
}

// A captured partition swallows the eager one behind it.
Sites merged_partitions(const Plan& plan) {
  Sites sites;
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    const auto& partitions = plan.blocks[b].partitions;
    for (std::size_t i = 0; i + 1 < partitions.size(); ++i) {
      if (!partitions[i].captured || partitions[i + 1].captured) continue;
      sites.emplace_back([b, i](Plan& p) {
        auto& list = p.blocks[b].partitions;
        list[i].end_step = list[i + 1].end_step;
        merge_into(list[i].signature, list[i + 1].signature);
        erase_at(list, i + 1);
      });
    }
  }
  return sites;
}

// The first step of an eager partition is captured with the partition before.
Sites moved_cuts(const Plan& plan) {
  Sites sites;
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    const auto& partitions = plan.blocks[b].partitions;
    for (std::size_t i = 0; i + 1 < partitions.size(); ++i) {
      if (!partitions[i].captured || partitions[i + 1].captured) continue;
      if (partitions[i + 1].begin_step == partitions[i + 1].end_step) continue;
      sites.emplace_back([b, i](Plan& p) {
        ++p.blocks[b].partitions[i].end_step;
        ++p.blocks[b].partitions[i + 1].begin_step;
      });
    }
  }
  return sites;
}

// --- Signatures ---------------------------------------------------------------------------------

// One entry of one list of every signature, taken out.
template <auto List>
Sites dropped(const Plan& plan) {
  Sites sites;
  for_each_partition(plan, [&](std::size_t b, std::size_t i, const PlanPartition& partition) {
    for (std::size_t k = 0; k < (partition.signature.*List).size(); ++k) {
      add_site(sites, b, i, [k](Plan&, PlanPartition& p) { erase_at(p.signature.*List, k); });
    }
  });
  return sites;
}

Sites added_symbols(const Plan& plan) {
  Sites sites;
  for_each_partition(plan, [&](std::size_t b, std::size_t i, const PlanPartition&) {
    add_site(sites, b, i,
             [](Plan&, PlanPartition& p) { p.signature.symbols.emplace_back("s_none"); });
  });
  return sites;
}

// Buffers that no step of the partition touches and no entry of its signature names.
std::vector<std::uint32_t> strangers(const Plan& plan, const PlanPartition& partition) {
  std::vector<bool> known(plan.buffers.size(), false);
  for (std::uint32_t s = partition.begin_step; s < partition.end_step; ++s) {
    for (const auto b : touched_buffers(plan, plan.steps[s])) known[b] = true;
    if (!nodes_of(plan.steps[s]).empty() && plan.steps[s].workspace) {
      known[plan.steps[s].workspace->index] = true;
    }
  }
  for (const SignatureInput& input : partition.signature.inputs) known[input.buffer.index] = true;
  for (const BufferId output : partition.signature.outputs) known[output.index] = true;
  for (const BufferId constant : partition.signature.constants) known[constant.index] = true;
  std::vector<std::uint32_t> out;
  for (std::uint32_t b = 0; b < known.size(); ++b) {
    if (!known[b]) out.push_back(b);
  }
  return out;
}

// Which list a stranger comes into.
template <bool as_output>
Sites added_buffers(const Plan& plan) {
  Sites sites;
  for_each_partition(plan, [&](std::size_t b, std::size_t i, const PlanPartition& partition) {
    for (const auto stranger : strangers(plan, partition)) {
      add_site(sites, b, i, [stranger](Plan&, PlanPartition& p) {
        if (as_output) p.signature.outputs.push_back(BufferId{stranger});
        if (!as_output) p.signature.inputs.push_back({BufferId{stranger}, false});
      });
    }
  });
  return sites;
}

template <bool from>
Sites turned_frees(const Plan& plan) {
  Sites sites;
  for_each_partition(plan, [&](std::size_t b, std::size_t i, const PlanPartition& partition) {
    for (std::size_t k = 0; k < partition.signature.inputs.size(); ++k) {
      if (partition.signature.inputs[k].deallocate != from) continue;
      add_site(sites, b, i,
               [k](Plan&, PlanPartition& p) { p.signature.inputs[k].deallocate = !from; });
    }
  });
  return sites;
}

// State that a step writes is said to be constant.
Sites written_constants(const Plan& plan) {
  Sites sites;
  for_each_partition(plan, [&](std::size_t b, std::size_t i, const PlanPartition& partition) {
    for (std::size_t k = 0; k < partition.signature.inputs.size(); ++k) {
      const BufferId id = partition.signature.inputs[k].buffer;
      if (plan.pools[plan.buffers[id.index].pool.index].kind != PoolKind::kState) continue;
      add_site(sites, b, i, [k, id](Plan&, PlanPartition& p) {
        erase_at(p.signature.inputs, k);
        p.signature.constants.push_back(id);
        std::erase(p.signature.outputs, id);
      });
    }
  });
  return sites;
}

// An arm results in another tensor of the same type.
Sites changed_block_outputs(const Plan& plan) {
  Sites sites;
  for (std::size_t b = 1; b < plan.blocks.size(); ++b) {
    for (std::size_t k = 0; k < plan.blocks[b].outputs.size(); ++k) {
      const auto* id = plan.blocks[b].outputs[k].as<spec::ValueId>();
      for (std::uint32_t to = 0; id && to < plan.values.size(); ++to) {
        if (id->index == to || !same_type(plan.values[id->index], plan.values[to])) continue;
        sites.emplace_back(
            [b, k, to](Plan& p) { p.blocks[b].outputs[k] = spec::Argument{spec::ValueId{to}}; });
      }
    }
  }
  return sites;
}

constexpr MutationRow kRows[] = {
    {{"eager-captured", "PlanPartition::captured", "what must run eagerly is captured", true,
      "verifier"},
     captured_eager_ones},
    {{"reason-dropped", "PlanPartition::reason", "an eager partition does not say why", true,
      "verifier"},
     dropped_reasons},
    {{"partitions-merged", "PlanBlock::partitions",
      "a captured partition swallows the eager one behind it", true, "verifier"},
     merged_partitions},
    {{"cut-moved", "PlanPartition::begin_step",
      "the first step of an eager partition is captured with the partition before", true,
      "verifier"},
     moved_cuts},
    {{"signature-input-dropped", "PlanSignature::inputs", "a partition does not receive a buffer",
      true, "verifier"},
     dropped<&PlanSignature::inputs>},
    {{"signature-input-added", "PlanSignature::inputs",
      "a partition receives a buffer that it does not touch", true, "verifier"},
     added_buffers<false>},
    {{"free-forgotten", "SignatureInput::deallocate", "nobody gives a buffer up", true, "verifier"},
     turned_frees<true>},
    {{"free-early", "SignatureInput::deallocate", "a buffer is given up that is needed later", true,
      "verifier"},
     turned_frees<false>},
    {{"signature-output-dropped", "PlanSignature::outputs",
      "a partition does not hand on what is used later", true, "verifier"},
     dropped<&PlanSignature::outputs>},
    {{"signature-output-added", "PlanSignature::outputs",
      "a partition hands on what it does not have", true, "verifier"},
     added_buffers<true>},
    {{"constant-dropped", "PlanSignature::constants", "a partition is not told of a parameter",
      true, "verifier"},
     dropped<&PlanSignature::constants>},
    {{"constant-written", "PlanSignature::constants", "state that steps write is called constant",
      true, "verifier"},
     written_constants},
    {{"symbol-dropped", "PlanSignature::symbols", "a partition does not know a symbol it needs",
      true, "verifier"},
     dropped<&PlanSignature::symbols>},
    {{"symbol-added", "PlanSignature::symbols", "a partition asks for a symbol it does not need",
      true, "verifier"},
     added_symbols},
    {{"block-output-changed", "PlanBlock::outputs", "an arm results in another tensor", true,
      "provenance"},
     changed_block_outputs},
};

}  // namespace

std::span<const MutationRow> partition_mutations() { return kRows; }

}  // namespace graphgate::conformance
