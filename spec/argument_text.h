// One argument of a node as text. The graph printer, the graph parser and the case file use it.
//
//   None  True  3  -1  1.0  1e-05  inf  nan  "text"  f32  channels_last  layout(strided)
//   device("cuda:0")  %x  @true_graph  aten.add.Tensor  [1, [%x, None]]
//
// A bare word with a dot is an op name; op("...") stands for one that is no such word.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "spec/graph.h"
#include "spec/text_lexer.h"

namespace graphgate::spec {

// The names that an argument may use: values defined so far and subgraphs.
struct NameScope {
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  template <class T>
  using Map = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  Map<ValueId> values;
  Map<SubgraphId> subgraphs;
};

// "%x", "%0", "%\"odd name\"" and the same with @.
[[nodiscard]] std::string print_sigil_name(char sigil, std::string_view name);
// Reads the name behind a sigil that must be the current token.
[[nodiscard]] Result<std::string> read_sigil_name(TextReader& reader, std::string_view sigil,
                                                  std::string_view what);

// Appends the text of `argument`, whose ids belong to `graph`.
void print_argument(const Graph& graph, const Argument& argument, std::string& out);

[[nodiscard]] Result<Argument> read_argument(TextReader& reader, const NameScope& scope);
// The argument that begins with the word or string `first`, which is taken already.
[[nodiscard]] Result<Argument> read_argument_after(TextReader& reader, const Token& first,
                                                   const NameScope& scope);

}  // namespace graphgate::spec
