#include "interop/recording.h"

#include <cmath>

#include "base/atomic_file.h"
#include "base/folder_test.h"
#include "base/result_test.h"
#include "interop/op_cases.h"
#include "interop/safetensors.h"
#include "spec/host_tensor_test.h"
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

// Two inputs over one storage of six numbers: the last two, and every second.
class PlacedInputs : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<float> numbers = {0, 1, 2, 3, 4, 5};
    const auto storage = spec::host_tensor(spec::DType::kFloat32, {6}, numbers);
    spec::HostTensor bytes = spec::make_host_tensor(spec::DType::kUInt8, {24});
    bytes.storage = storage.storage;
    const auto last = spec::host_tensor(spec::DType::kFloat32, {2}, std::vector<float>{4, 5});
    const auto even = spec::host_tensor(spec::DType::kFloat32, {3}, std::vector<float>{0, 2, 4});
    must(write_safetensors(
        folder_.file("r.safetensors"),
        {{"call0.input0", last}, {"call0.input1", even}, {"call0.storage0", bytes}}));
  }

  [[nodiscard]] Result<std::vector<RecordedCall>> read(const std::string& second) const {
    must(write_file(folder_.file("r.geometry.json"),
                    R"({"recorded": "float32", "calls": {"call0": []}, "inputs": {"call0": [)"
                    R"({"strides": [1], "storage_offset": 4, "storage": 0}, )" +
                        second + "]}}"));
    return read_recording(folder_.file("r.safetensors"), folder_.file("r.geometry.json"));
  }

  TestFolder folder_;
};

TEST_F(PlacedInputs, LieInTheStorageThatTheyShare) {
  const auto calls = must(read(R"({"strides": [2], "storage_offset": 0, "storage": 0})"));
  const auto& first = std::get<spec::HostTensor>(calls.at(0).inputs[0]);
  const auto& second = std::get<spec::HostTensor>(calls.at(0).inputs[1]);
  EXPECT_EQ(first.storage_offset, 4);
  EXPECT_EQ(second.strides, std::vector<std::int64_t>{2});
  EXPECT_EQ(first.storage, second.storage);
}

TEST_F(PlacedInputs, StayAloneWhereNoPlaceIsGiven) {
  const auto calls = must(read("null"));
  EXPECT_NE(std::get<spec::HostTensor>(calls.at(0).inputs[0]).storage,
            std::get<spec::HostTensor>(calls.at(0).inputs[1]).storage);
}

TEST(Recording, HasNumbersThatWereGivenAndReturned) {
  const TestFolder folder;
  const spec::HostTensor tensor = spec::make_host_tensor(spec::DType::kFloat32, {2});
  const auto read = [&](const std::string& inputs) {
    must(write_safetensors(folder.file("r.safetensors"),
                           {{"call0.input1", tensor}, {"call0.output1.float32", tensor}}));
    must(write_file(
        folder.file("r.geometry.json"),
        R"({"recorded": "float32", "calls": {"call0": ["-Infinity", null, null, true]}, )"
        R"("inputs": {"call0": )" +
            inputs + "}}"));
    return read_recording(folder.file("r.safetensors"), folder.file("r.geometry.json"));
  };
  const auto calls = must(read("[3, null, false, 1.5]"));
  const RecordedCall& call = calls.at(0);
  ASSERT_EQ(call.inputs.size(), 4U);
  EXPECT_EQ(std::get<std::int64_t>(call.inputs[0]), 3);
  EXPECT_EQ(std::get<spec::HostTensor>(call.inputs[1]).sizes, std::vector<std::int64_t>{2});
  EXPECT_FALSE(std::get<bool>(call.inputs[2]));
  EXPECT_EQ(std::get<double>(call.inputs[3]), 1.5);
  ASSERT_EQ(call.outputs.size(), 4U);
  EXPECT_TRUE(call.outputs[1].has_value());
  ASSERT_EQ(call.numbers.size(), 2U);
  EXPECT_EQ(std::get<double>(call.numbers.at(0)), -HUGE_VAL);
  EXPECT_TRUE(std::get<bool>(call.numbers.at(3)));
  EXPECT_EQ(failure_of(read("[null, null]")).message,
            "r.geometry.json: calls.call0: input 0 is missing");
  EXPECT_EQ(failure_of(read("[3, null, {}]")).message,
            "r.geometry.json: inputs.call0[2]: is no input of the call");
}

TEST_F(PlacedInputs, AreRefusedWhereTheStorageSaysOtherwise) {
  const auto message = [&](const std::string& second) { return failure_of(read(second)).message; };
  const std::string place = "r.geometry.json: inputs.call0[1]: ";
  EXPECT_EQ(message(R"({"strides": [1], "storage_offset": 0, "storage": 0})"),
            place + "has other elements than the tensor of the input");
  EXPECT_EQ(message(R"({"strides": [3], "storage_offset": 0, "storage": 0})"),
            place + "does not fit the 24 bytes of its storage");
  EXPECT_EQ(message(R"({"strides": [2], "storage_offset": 0, "storage": 1})"),
            place + "has no tensor 'storage1'");
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

TEST(OpCases, ReadComplexTensorsAndNumbers) {
  const TestFolder folder;
  // A storage of complex128 may stand there as the bytes of its parts.
  ASSERT_TRUE(write_safetensors(folder.file("c.safetensors"),
                                {{"1.in0", spec::make_host_tensor(spec::DType::kFloat64, {4})},
                                 {"1.out0", spec::make_host_tensor(spec::DType::kComplex128, {2})}})
                  .ok());
  const std::string tensor = R"({"tensor": {"storage": 0, "dtype": "complex128", "sizes": [2],)"
                             R"( "strides": [1], "storage_offset": 0}})";
  const auto read = [&](const std::string& number) {
    must(write_file(folder.file("c.jsonl"),
                    R"({"case": 1, "op": "aten.mul.Scalar", "args": [)" + tensor + ", " + number +
                        R"(], "kwargs": {}, "result": )" + tensor + R"(, "mutated": {}})" + "\n"));
    spec::Argument argument;
    const auto visit = [&](const OpCase& op_case) {
      EXPECT_EQ(std::get<spec::HostTensor>(op_case.inputs[0]).dtype, spec::DType::kComplex128);
      argument = op_case.program.graph.nodes.at(0).arguments.at(1).argument;
      return true;
    };
    must(read_op_cases(folder.file("c.jsonl"), spec::builtin_op_table(), visit));
    return argument;
  };
  EXPECT_EQ(read(R"({"complex": [1, -2.5]})"), (spec::Argument{spec::ComplexNumber{1, -2.5}}));
  EXPECT_EQ(read(R"({"complex": [{"float": "-inf"}, {"float": "nan"}]})"),
            (spec::Argument{spec::ComplexNumber{-std::numeric_limits<double>::infinity(),
                                                std::numeric_limits<double>::quiet_NaN()}}));
}

}  // namespace
}  // namespace graphgate::interop
