// Calls on several streams, run by the emulator: what nothing orders runs in both orders, and what
// waits for an event finds all that is behind it. So a plan with a missing event has other bits.
#include <gtest/gtest.h>

#include <set>

#include "optimized/runtime/emulated/emulated_device.h"
#include "optimized/schedule/streams_test.h"

namespace graphgate::optimized::emulated {
namespace {

using Numbers = std::vector<std::int64_t>;

// One thread over numbers x.
TextWork one_thread(const std::string& statement) {
  TextWork work;
  work.statements =
      "  auto* const x = reinterpret_cast<std::int64_t*>(p0);\n  if (thread == 0) { " + statement +
      " }\n";
  work.threads = 1;
  return work;
}

struct Placed {
  TextWork work;
  std::uint32_t stream = 0;
  std::vector<spec::EventId> waits = {};
  std::vector<spec::EventId> records = {};
};

// What is left of the numbers by several launches, each on them as they were.
std::set<Numbers> left_by(std::vector<Placed> calls, const Numbers& before, bool is_fast = false,
                          std::uint64_t seed = 0) {
  const auto device = make_emulated_device().value();
  Numbers numbers = before;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(numbers));
  device->memory().know(bytes, nullptr);
  DeviceProgramText text(is_fast);
  Device::Job job{{}, true, "", seed};
  for (Placed& placed : calls) {
    placed.work.pointers = {bytes.data()};
    DeviceCall& call = job.calls.emplace_back(text.add({placed.work}).front());
    call.stream = placed.stream;
    call.waits = placed.waits;
    call.records = placed.records;
  }
  const auto runs = device->load(text, std::span(&job, 1));
  std::set<Numbers> out;
  for (int launch = 0; launch < 16; ++launch) {
    numbers = before;
    device->memory().host_wrote(bytes);
    device->memory().bring_to_device(bytes);
    runs.front()->launch();
    device->memory().device_wrote(bytes);
    device->finish();
    device->memory().bring_to_host(bytes);
    out.insert(numbers);
  }
  return out;
}

const TextWork kOne = one_thread("x[0] = x[0] * 10 + 1;");
const TextWork kTwo = one_thread("x[0] = x[0] * 10 + 2;");

TEST(EmulatedStreams, RunWhatNothingOrdersInBothOrders) {
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    EXPECT_EQ(left_by({{kOne, 0}, {kTwo, 1}}, {0}, false, seed), (std::set<Numbers>{{12}, {21}}));
  }
  EXPECT_EQ(left_by({{kOne, 1}, {kTwo, 1}}, {0}), (std::set<Numbers>{{12}}));
}

TEST(EmulatedStreams, WaitForEvents) {
  EXPECT_EQ(left_by({{kOne, 0, {}, {{3}}}, {kTwo, 1, {{3}}}}, {0}), (std::set<Numbers>{{12}}));
  EXPECT_EQ(left_by({{kOne, 2, {}, {{3}}}, {kTwo, 1, {{3}}}, {kOne, 0}}, {0}),
            (std::set<Numbers>{{112}, {121}}));
}

// It reads before it waits: only what is behind one call alone may begin while that one runs.
TEST(EmulatedStreams, BeginNothingEarlyThatWaitsForAnEvent) {
  TextWork eager = one_thread(
      "const auto early = x[0]; device::wait_for_launches_before(); x[1] = early * 10 + x[0];");
  eager.waits_itself = true;
  const TextWork seven = one_thread("x[0] = 7;");
  EXPECT_EQ(left_by({{seven, 0}, {eager, 0}}, {3, 0}, true), (std::set<Numbers>{{7, 37}}));
  EXPECT_EQ(left_by({{seven, 0, {}, {{0}}}, {eager, 1, {{0}}}}, {3, 0}, true),
            (std::set<Numbers>{{7, 77}}));
  const TextWork other = one_thread("x[2] = 1;");
  EXPECT_EQ(left_by({{other, 1}, {seven, 0, {}, {{0}}}, {eager, 1, {{0}}}}, {3, 0, 0}, true),
            (std::set<Numbers>{{7, 77, 1}}));
}

// How many of some calls come to something else than on the host, on one stream.
std::size_t calls_that_differ(const char* text, const CompileOptions& compile) {
  const spec::Program program = program_of(text);
  const std::vector<Inputs> calls(8, eight());
  Options options;
  options.compile = compile;
  options.device = make_emulated_device().value();
  const auto actual = run_calls(program, calls, options);
  const auto expected = run_calls(program, calls);
  EXPECT_EQ(actual.size(), calls.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    bool is_same = true;
    for (std::size_t o = 0; o < expected[i].outputs.size(); ++o) {
      is_same &= floats(actual[i].outputs[o]) == floats(expected[i].outputs[o]);
    }
    different += is_same ? 0 : 1;
  }
  return different;
}

TEST(EmulatedStreams, ShowAMissingEventOfAPlan) {
  EXPECT_EQ(calls_that_differ(programs::kSharedInput, on_streams(2)), 0U);
  EXPECT_GT(calls_that_differ(programs::kSharedInput,
                              with(on_streams(2), spec::Deviation::kForksWithoutAliasTest)),
            0U);
}

TEST(EmulatedStreams, ShowBytesThatAreGivenOnTooEarly) {
  EXPECT_EQ(calls_that_differ(programs::kSideStream, side_streams()), 0U);
  EXPECT_GT(calls_that_differ(programs::kSideStream,
                              with(side_streams(), spec::Deviation::kFreesOnMainStream)),
            0U);
}

}  // namespace
}  // namespace graphgate::optimized::emulated
