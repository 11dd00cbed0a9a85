#include "spec/missing_op.h"

#include "base/result_test.h"

namespace graphgate::spec {
namespace {

using Ops = std::vector<std::string>;

TEST(MissingOps, SayAllOpsInOneSentence) {
  MissingOps missing;
  EXPECT_TRUE(missing.empty());
  missing.add("y", "aten.a.default");
  EXPECT_EQ(missing.error(kNoBody).message,
            "node 'y': the reference has no body for aten.a.default");
  missing.add("z", "aten.b.default");
  missing.add("w", "aten.a.default");
  const Error error = missing.error(kNoKernel).at("p");
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(error.message,
            "p: node 'y': the optimized executor has no kernel for aten.a.default, nor for "
            "aten.b.default");
  EXPECT_EQ(missing.ops(), (Ops{"aten.a.default", "aten.b.default"}));
}

TEST(MissingOps, AreReadOutOfAnySentenceThatNamesThem) {
  MissingOps missing;
  missing.add("y", "my.own.default");
  missing.add("z", "aten.b.Tensor");
  for (const std::string_view who : {kNoSchema, kNoBody, kNoKernel}) {
    const std::string message = "'a command': " + missing.error(who).message;
    EXPECT_EQ(missing_ops_in(message), missing.ops()) << message;
    EXPECT_EQ(missing_ops_in(message + "; and more, nor for me"), missing.ops()) << message;
  }
  EXPECT_EQ(missing_ops_in("interpolation between integers"), Ops());
  EXPECT_EQ(missing_ops_in(std::string(kNoBody) + " for "), Ops());
  EXPECT_EQ(missing_ops_in(""), Ops());
}

}  // namespace
}  // namespace graphgate::spec
