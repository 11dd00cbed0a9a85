#include "interop/recording.h"

#include "base/atomic_file.h"
#include "base/folder_test.h"
#include "base/result_test.h"
#include "interop/op_cases.h"
#include "interop/safetensors.h"
#include "spec/op_table.h"

namespace graphgate::interop {
namespace {

const std::string kRecordedModels = std::string(GRAPHGATE_GOLDEN_DIR) + "/models/";

TEST(Recording, HasInputsOutputsAndFinalStates) {
  const auto calls = must(read_recording(kRecordedModels + "mutations.safetensors",
                                         kRecordedModels + "mutations.geometry.json"));
  ASSERT_EQ(calls.size(), 2U);
  const RecordedCall& call = calls[0];
  EXPECT_EQ(call.inputs.size(), 2U);
  ASSERT_EQ(call.outputs.size(), 5U);
  ASSERT_TRUE(call.outputs[1].has_value());
  EXPECT_EQ(call.outputs[1]->geometry->strides, (std::vector<std::int64_t>{16, 1}));
  EXPECT_TRUE(call.outputs[1]->float64.has_value());
  EXPECT_EQ(call.final_inputs.size(), 2U);
  EXPECT_EQ(call.buffers.count("state"), 1U);
}

TEST(Recording, KnowsWhichOutputsShareStorageWithAnInput) {
  const auto calls = must(read_recording(kRecordedModels + "vllm_like_bf16.safetensors",
                                         kRecordedModels + "vllm_like_bf16.geometry.json"));
  bool shares = false;
  for (const auto& output : calls[0].outputs) {
    shares |= output->geometry->shares_storage_with == "input1";
  }
  EXPECT_TRUE(shares);
}

TEST(Recording, RefusesAnotherProgramsGeometry) {
  const Error calls = failure_of(read_recording(kRecordedModels + "mutations.safetensors",
                                                kRecordedModels + "cond_nonzero.geometry.json"));
  EXPECT_EQ(calls.message.find("cond_nonzero.geometry.json: calls.call0"), 0U) << calls.message;
}

TEST(Recording, RefusesAFileWithoutACall) {
  const TestFolder folder;
  ASSERT_TRUE(write_safetensors(folder.file("r.safetensors"), {}).ok());
  must(write_file(folder.file("r.geometry.json"), R"({"recorded": "float32", "calls": {}})"));
  EXPECT_EQ(failure_of(read_recording(folder.file("r.safetensors"), folder.file("r.geometry.json")))
                .message,
            "r.safetensors: holds no recorded call");
}

TEST(Recording, RefusesAGeometryOfACallWithoutTensors) {
  const TestFolder folder;
  const spec::HostTensor tensor = spec::make_host_tensor(spec::DType::kFloat32, {2});
  ASSERT_TRUE(write_safetensors(folder.file("r.safetensors"), {{"call0.input0", tensor}}).ok());
  must(write_file(folder.file("r.geometry.json"),
                  R"({"recorded": "float32", "calls": {"call0": [], "call1": []}})"));
  EXPECT_EQ(failure_of(read_recording(folder.file("r.safetensors"), folder.file("r.geometry.json")))
                .message,
            "r.geometry.json: calls.call1: has no tensor in r.safetensors");
}

TEST(OpCases, ReadTensorsThatShareAStorage) {
  const TestFolder folder;
  spec::HostTensor storage = spec::make_host_tensor(spec::DType::kFloat32, {6});
  ASSERT_TRUE(
      write_safetensors(folder.file("c.safetensors"), {{"3.in0", storage}, {"3.out0", storage}})
          .ok());
  const std::string tensor = R"({"tensor": {"storage": 0, "dtype": "float32", "sizes": [2, 2],)";
  must(write_file(folder.file("c.jsonl"),
                  R"({"case": 3, "op": "aten.add.Tensor", "args": [)" + tensor +
                      R"( "strides": [2, 1], "storage_offset": 0}}, )" + tensor +
                      R"( "strides": [1, 2], "storage_offset": 2}}], "kwargs": {"alpha":)"
                      R"( {"float": "inf"}}, "result": )" +
                      tensor + R"( "strides": [2, 1], "storage_offset": 0}}, "mutated": {}})" +
                      "\n"));
  int seen = 0;
  const auto visit = [&](const OpCase& op_case) {
    ++seen;
    EXPECT_EQ(op_case.id, 3);
    EXPECT_EQ(op_case.inputs.size(), 2U);
    EXPECT_EQ(std::get<spec::HostTensor>(op_case.inputs[0]).storage,
              std::get<spec::HostTensor>(op_case.inputs[1]).storage);
    EXPECT_EQ(op_case.program.graph.nodes.at(0).arguments.at(2).name, "alpha");
    return true;
  };
  must(read_op_cases(folder.file("c.jsonl"), spec::builtin_op_table(), visit));
  EXPECT_EQ(seen, 1);
}

TEST(OpCases, NameTheLineOfAnError) {
  const TestFolder folder;
  ASSERT_TRUE(write_safetensors(folder.file("c.safetensors"), {}).ok());
  must(write_file(folder.file("c.jsonl"), "\n{\"case\": 1, \"op\": 5}\n"));
  EXPECT_EQ(failure_of(read_op_cases(folder.file("c.jsonl"), spec::builtin_op_table(),
                                     [](const OpCase&) { return true; }))
                .message,
            "c.jsonl:2: op: expected a string, found a number");
}

}  // namespace
}  // namespace graphgate::interop
