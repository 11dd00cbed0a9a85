// The effects audit: what an op did to memory, against what its schema declares.
//
// The audit guards the one thing that all parties share, the schema parser: if effects were derived
// wrongly, reference and optimized would agree on a wrong answer. It knows no op.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "reference/tensor.h"
#include "spec/op_table.h"

namespace graphgate::reference {

// An op wrote or aliased what its schema does not declare: a defect of ours, not of the input.
class AuditError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class EffectsAudit {
 public:
  // Copies the bytes of every storage that the arguments reach and none of them may write.
  EffectsAudit(const spec::OpRow& row, const std::vector<Datum>& arguments);

  // Compares. Throws AuditError when a storage changed although no argument over it is written.
  // Throws it too when a result shares a storage with an argument that neither the schema nor the
  // op table's row lets it alias.
  void check(const std::vector<Datum>& results) const;

 private:
  // A tensor of an argument, and where the bytes of its storage begin in bytes_.
  struct Reached {
    std::size_t argument = 0;
    std::shared_ptr<Storage> storage;
    std::size_t begin = 0;
    std::size_t size = 0;
    bool may_change = false;  // an argument over the storage is written: no bytes are kept
    bool is_first = true;     // that reaches the storage
  };
  void add(std::size_t argument, const Tensor& tensor);
  [[nodiscard]] bool is_unchanged(const Reached& reached) const;
  [[nodiscard]] bool may_alias(std::size_t result, std::size_t argument) const;
  void check_result(std::size_t index, const Tensor& result) const;

  const spec::OpRow& row_;
  std::vector<Reached> reached_;
  std::vector<std::byte> bytes_;
};

}  // namespace graphgate::reference
