#include "tools/cli/pack_csv.h"

#include <fstream>
#include <string>

#include "base/file_io.h"
#include "base/folder_test.h"
#include "base/result_test.h"

namespace graphgate::tools {
namespace {

class PackCsv : public ::testing::Test {
 protected:
  std::string file(const std::string& text) {
    const std::string path = folder_.file("items.csv");
    std::ofstream(path) << text;
    return path;
  }
  [[nodiscard]] std::string out() const { return folder_.file("out.csv"); }

  // The page that was printed.
  std::string printed(const PackCsvOptions& options, ExitCode expected) {
    ::testing::internal::CaptureStdout();
    const auto code = run_pack_csv(options);
    std::fflush(stdout);
    std::string page = ::testing::internal::GetCapturedStdout();
    EXPECT_TRUE(code.ok()) << code.error().message;
    if (code.ok()) {
      EXPECT_EQ(code.value(), expected);
    }
    return page;
  }

 private:
  const TestFolder folder_;
};

constexpr const char* kGap =
    "id,lower,upper,size\na,1,2,2\nb,4,8,2\nc,1,3,2\nd,2,5,1\ne,3,5,1\nf,2,4,1\ng,5,6,2\n";

std::string refusal(const PackCsvOptions& options) {
  const auto code = run_pack_csv(options);
  EXPECT_FALSE(code.ok());
  if (code.ok()) return "";
  EXPECT_EQ(code.error().kind, ErrorKind::kBadInput);
  return code.error().message;
}

TEST_F(PackCsv, SaysThatThePeakAtTheLoadIsOptimal) {
  const std::string path = file("id,lower,upper,size\na,0,2,4\nb,1,3,4\nc,2,4,4\n");
  EXPECT_EQ(printed({path, 8, 1, 1, ""}, ExitCode::kGood),
            "items.csv: 3 buffers, alignment 1\n"
            "  peak         8\n"
            "  lower bound  8 (ratio 1.00000)\n"
            "  method       online best fit\n"
            "  optimal      yes: so many bytes are alive at one step\n"
            "  capacity     8: met\n");
}

TEST_F(PackCsv, SaysWhichCapacityWasSearchedInVain) {
  const std::string page = printed({file(kGap), std::nullopt, 1, 1, ""}, ExitCode::kGood);
  EXPECT_TRUE(contains(page, "proven bound 5 (ratio 1.00000)"));
  EXPECT_TRUE(contains(page, "exhausted at 4, 1 (the unit of all sizes) below"));
}

TEST_F(PackCsv, ReportsACapacityThatIsMissed) {
  const std::string page = printed({file(kGap), 4, 1, 1, ""}, ExitCode::kFindings);
  EXPECT_TRUE(contains(page, "capacity     4: missed by 1; no packing meets it"));
}

TEST_F(PackCsv, ProvesNothingWithoutASearch) {
  const std::string page = printed({file(kGap), std::nullopt, 1, 0, ""}, ExitCode::kGood);
  EXPECT_TRUE(contains(page, "optimal      not proven: --effort 0 is used up"));
}

TEST_F(PackCsv, SaysThatACapacityIsUndecidedWhenTheEffortIsUsedUp) {
  const std::string page = printed({file(kGap), 4, 1, 0, ""}, ExitCode::kInconclusive);
  EXPECT_TRUE(contains(page, "capacity     4: missed by 1; undecided, for --effort 0 is used up"));
}

TEST_F(PackCsv, SaysThatACapacityIsUndecidedWhenTheTimeIsOver) {
  PackCsvOptions options{file(kGap), 4, 1, std::nullopt, ""};
  options.seconds = 0;
  const std::string page = printed(options, ExitCode::kInconclusive);
  EXPECT_TRUE(contains(page, "capacity     4: missed by 1; undecided, for --time 0s is over"));
}

TEST_F(PackCsv, GoesOnUntilTheCapacityIsMetOrRefuted) {
  PackCsvOptions options{file(kGap), 4, 1, std::nullopt, ""};
  EXPECT_TRUE(contains(printed(options, ExitCode::kFindings), "no packing meets it"));
  options.capacity_bytes = 5;
  EXPECT_TRUE(contains(printed(options, ExitCode::kGood), "capacity     5: met"));
  options.jobs = 3;
  EXPECT_TRUE(contains(printed(options, ExitCode::kGood), "capacity     5: met"));
  options.capacity_bytes.reset();
  EXPECT_TRUE(contains(printed(options, ExitCode::kGood), "optimal      yes"));
}

TEST_F(PackCsv, WritesThePlacements) {
  const std::string path = file("id,lower,upper,size\nx,0,2,3\ny,2,3,5\n");
  printed({path, std::nullopt, 4, 1, out()}, ExitCode::kGood);
  EXPECT_EQ(must(read_whole(out())), "id,lower,upper,size,offset\nx,0,2,3,0\ny,2,3,5,0\n");
}

TEST_F(PackCsv, PacksAFileWithoutBuffers) {
  const std::string page = printed({file("id,lower,upper,size\n"), 0, 1, 1, ""}, ExitCode::kGood);
  EXPECT_TRUE(contains(page, "peak         0\n"));
}

TEST_F(PackCsv, RefusesBadInputAndWritesNothing) {
  EXPECT_TRUE(
      contains(refusal({file("id,lower,upper,size\na,2,2,1\n"), 8, 1, 1, out()}), "items.csv:2"));
  EXPECT_EQ(refusal({file(kGap), -1, 1, 1, out()}),
            "--capacity: expected a number of bytes that is not negative");
  EXPECT_EQ(refusal({file(kGap), 8, 0, 1, out()}), "--alignment: expected a positive number");
  EXPECT_EQ(refusal({file(kGap), 8, 1, -1, out()}), "--effort: expected 0 to 10000");
  EXPECT_FALSE(refusal({out() + ".missing", 8, 1, 1, out()}).empty());
  EXPECT_FALSE(std::filesystem::exists(out()));
}

}  // namespace
}  // namespace graphgate::tools
