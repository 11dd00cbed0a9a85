// The parser of plan text, in two files: plan_text_parser.cpp reads tables,
// plan_step_parser.cpp blocks: partitions, steps and bodies.
//
// Inside spec/ only. Ids are given in the order of definition; what is parsed is well formed, not
// yet valid.
#pragma once

#include <unordered_set>

#include "spec/node_text.h"
#include "spec/plan_text.h"

namespace graphgate::spec {

// The kinds of lines, in the order in which they stand.
enum class PlanStage : std::uint8_t {
  kEvents,
  kKey,
  kSymbol,
  kPadding,
  kPool,
  kBuffer,
  kInput,
  kBlock,
  kOutput,
};

class PlanReader {
 public:
  // The reader stands at the word `plan`; both outlive this.
  PlanReader(TextReader& reader, const OpTable& ops);

  Result<Plan> read();

 private:
  Result<void> open();
  Result<void> read_line();
  Result<void> read_keyword_line();
  Result<std::uint32_t> take_count(std::string_view what);
  Result<std::string> take_symbol();
  Result<void> read_key();
  Result<void> read_symbol();
  Result<void> read_padding();
  Result<void> read_pad(std::vector<std::optional<std::uint32_t>> PlanPadding::*dims);
  Result<void> read_pool();
  Result<void> read_buffer();
  Result<void> read_input();
  Result<ValueId> finish_value(Value value);
  Result<void> read_final_value();
  Result<void> read_output();
  Result<void> read_block_output(PlanBlock& block);
  Result<void> read_block();

  Result<ValueId> read_result();
  Result<void> read_view();
  Result<void> read_partition(PlanBlock& block);
  Result<void> read_signature(PlanSignature& signature);
  Result<void> read_buffers(std::string_view keyword, std::vector<BufferId>& buffers);
  Result<void> read_events(std::string_view keyword, std::vector<EventId>& events);
  bool at_node();
  Result<void> read_step();
  Result<Node> read_plan_node(std::size_t index, std::string_view schemaless);
  Result<void> read_body(std::vector<Node>& body);
  Result<void> check_view_results(const Token& start, const Node& node);

  // A new name behind a sigil; adds it to `names` with the next id.
  template <class T>
  Result<std::string> define_name(NameScope::Map<T>& names, std::string_view sigil,
                                  std::string_view what) {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(std::string name, read_sigil_name(reader_, sigil, what));
    const T id{static_cast<std::uint32_t>(names.size())};
    if (names.try_emplace(name, id).second) return name;
    return reader_.error_at(
        start, "expected a new name, found " + print_sigil_name(sigil.front(), name) + " again");
  }

  template <class T>
  Result<T> use_name(const NameScope::Map<T>& names, std::string_view sigil,
                     std::string_view what) {
    const Token start = reader_.peek();
    GRAPHGATE_TRY(const std::string name, read_sigil_name(reader_, sigil, what));
    const auto found = names.find(name);
    if (found != names.end()) return found->second;
    return reader_.error_at(start, "expected " + std::string(what) +
                                       " that is defined above, found " +
                                       print_sigil_name(sigil.front(), name));
  }

  Result<BufferId> use_buffer() { return use_name(buffers_, "$", "a buffer"); }

  // One item or more, with commas between them.
  template <class ReadItem>
  Result<void> read_items(ReadItem read_item) {
    do {
      GRAPHGATE_TRY_VOID(read_item());
    } while (reader_.accept(","));
    return {};
  }

  TextReader& reader_;
  const OpTable& ops_;
  Plan plan_;
  GraphBuilder builder_;                             // values, and all blocks by name
  std::vector<std::optional<BufferId>> buffers_of_;  // of values, by id
  std::unordered_set<std::uint32_t> views_;          // values, by id
  NameScope::Map<PoolId> pools_;
  NameScope::Map<BufferId> buffers_;
  NameScope::Map<SubgraphId> blocks_;  // those read so far
  PlanStage stage_ = PlanStage::kEvents;
};

}  // namespace graphgate::spec
