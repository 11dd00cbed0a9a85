// The audit with bodies that lie: each does to memory what its schema does not declare.
#include "reference/effects_audit.h"

#include "base/result_test.h"
#include "reference/ops/op_test.h"

namespace graphgate::reference {
namespace {

using test::counting;

// Runs `body` as the op of `line`, a line of the op table.
std::vector<Datum> run_as(const std::string& line, Body body, const std::vector<Datum>& arguments) {
  spec::OpTable table;
  must(table.add_text(line, "test"));
  Options options;
  return run_op(*table.rows().begin()->second, body, arguments, Run{options});
}

constexpr const char* kPure = "test::op(Tensor a, Tensor b) -> Tensor";
constexpr const char* kWritesA = "test::op_(Tensor(a!) a, Tensor b) -> Tensor(a!)";
constexpr const char* kViewsA = "test::op(Tensor(a) a, Tensor b) -> Tensor(a)";

void write_b(Call& call) {
  *call.tensor("b")->storage->writable_bytes() = std::byte{1};
  call.emit_datum({counting({1})});
}
void write_a(Call& call) {
  *call.tensor("a")->storage->writable_bytes() = std::byte{1};
  call.emit_datum({call.tensor("a")});
}
void return_b(Call& call) {
  const Tensor& b = *call.tensor("b");
  call.emit_datum({view_of(b, b.sizes, b.strides, 0)});
}
void return_list_with_b(Call& call) {
  call.emit_datum({Datum::List{{counting({1})}, {call.tensor("b")}}});
}
void return_new(Call& call) { call.emit_datum({counting({1})}); }

TEST(EffectsAudit, CatchesAWriteThatTheSchemaDoesNotDeclare) {
  EXPECT_THROW((void)run_as(kPure, write_b, {{counting({2})}, {counting({2})}}), AuditError);
  EXPECT_THROW((void)run_as(kWritesA, write_b, {{counting({2})}, {counting({2})}}), AuditError);
  EXPECT_THROW((void)run_as(kViewsA, write_a, {{counting({2})}, {counting({2})}}), AuditError);
}

TEST(EffectsAudit, CatchesAResultThatAliasesWhatTheSchemaDoesNotDeclare) {
  EXPECT_THROW((void)run_as(kPure, return_b, {{counting({2})}, {counting({2})}}), AuditError);
  EXPECT_THROW((void)run_as(kViewsA, return_b, {{counting({2})}, {counting({2})}}), AuditError);
  EXPECT_THROW((void)run_as("test::op(Tensor a, Tensor b) -> Tensor[]", return_list_with_b,
                            {{counting({2})}, {counting({2})}}),
               AuditError);
}

TEST(EffectsAudit, AllowsDeclaredWritesAndAliases) {
  EXPECT_NO_THROW((void)run_as(kWritesA, write_a, {{counting({2})}, {counting({2})}}));
  EXPECT_NO_THROW((void)run_as("test::op(Tensor a, Tensor(b) b) -> Tensor(b)", return_b,
                               {{counting({2})}, {counting({2})}}));
  EXPECT_NO_THROW((void)run_as(kPure, return_new, {{counting({2})}, {counting({2})}}));
}

TEST(EffectsAudit, AllowsWhatTheRowDeclaresBesideTheSchema) {
  const std::string writes = std::string(kPure) + " ; undeclared_writes=b";
  EXPECT_NO_THROW((void)run_as(writes, write_b, {{counting({2})}, {counting({2})}}));
  const std::string aliases = std::string(kPure) + " ; undeclared_aliases=b";
  EXPECT_NO_THROW((void)run_as(aliases, return_b, {{counting({2})}, {counting({2})}}));
}

TEST(EffectsAudit, AWriteThroughAnAliasOfAWrittenArgumentIsDeclared) {
  const TensorRef a = counting({2});
  const TensorRef b = view_of(*a, {2}, {1}, 0);
  EXPECT_NO_THROW((void)run_as(kWritesA, write_b, {{a}, {b}}));
}

TEST(EffectsAudit, LooksIntoListsOfTensors) {
  const auto write_second = [](Call& call) {
    *call.tensors("list")[1]->storage->writable_bytes() = std::byte{1};
  };
  const Datum list = test::list_of({counting({2}), counting({2})});
  EXPECT_THROW((void)run_as("test::op(Tensor[] list) -> ()", write_second, {list}), AuditError);
}

}  // namespace
}  // namespace graphgate::reference
