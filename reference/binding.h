// From a graph's arguments to what an op body sees: schema defaults filled in, values looked up.
#pragma once

#include <vector>

#include "reference/tensor.h"
#include "spec/graph.h"
#include "spec/op_table.h"

namespace graphgate::reference {

// The run-time value of every graph value, by ValueId; values not yet made, or dead, hold None.
using Environment = std::vector<Datum>;

// One argument, values replaced by what `environment` holds. Subgraphs are not data: throws
// OpError.
[[nodiscard]] Datum evaluate_argument(const spec::Argument& argument,
                                      const Environment& environment);

// Where a node's op takes its arguments from, one for each of the schema, in order: what the node
// gives under the name, or null for the schema's default. Points into the node.
using Given = std::vector<const spec::Argument*>;
[[nodiscard]] Given find_given(const spec::OpSchema& schema,
                               const std::vector<spec::NamedArgument>& named);

// One Datum per argument of the schema. Throws OpError for a required argument that is missing.
[[nodiscard]] std::vector<Datum> bind_arguments(const spec::OpSchema& schema, const Given& given,
                                                const Environment& environment);

// A schema default as a Datum.
[[nodiscard]] Datum default_datum(const spec::SchemaArgument& argument);

}  // namespace graphgate::reference
