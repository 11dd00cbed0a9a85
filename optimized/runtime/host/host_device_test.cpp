// Plans that run on a device: what is copied when, and runs behind each other. The device is
// emulated.
#include "optimized/runtime/host/host_device.h"

#include "optimized/compile.h"
#include "optimized/runtime/emulated/emulated_device.h"
#include "optimized/runtime/host/host_program.h"
#include "optimized/runtime/session_test.h"

namespace graphgate::optimized {
namespace {

using Values = std::vector<float>;

// The state adds up what it is given. neg is cut out, so that there are two graphs and a step.
constexpr const char* kSums = R"(program "sums" {
  buffer %sum "sum" : f32[4] = [0.0, 0.0, 0.0, 0.0]
  input %x : f32[4]
  %a = aten.mul.Tensor(%x, 2.0)
  %b = aten.neg.default(%a)
  %c = aten.sub.Tensor(%sum, %b)
  %d = aten.copy_.default(%sum, %c)
  output %d
})";

class OnADevice : public testing::Test {
 protected:
  void SetUp() override {
    const auto device = emulated::make_emulated_device();
    if (!device.ok()) GTEST_SKIP() << device.error().message;
    host_.device = device.value();
    const spec::Program program = program_of(kSums);
    CompileOptions options;
    options.partition.device_kernels = true;
    options.partition.split_ops = {"aten.neg.default"};
    const auto prepared = must(prepare(program, options));
    const Inputs inputs = {f32({4}, {0, 0, 0, 0})};
    const auto symbols = must(bind_symbols(program, inputs, false));
    auto plan = must(compile(program, prepared, inputs, symbols, options));
    program_ = std::make_unique<HostProgram>(std::move(plan), *options.ops, state_, host_);
  }

  void start(float first) {
    const spec::HostTensor x = f32({4}, {first, 1, 2, 3});
    const std::vector<InputSource> inputs = {{&x, x.storage->bytes}};
    program_->start(inputs);
  }
  [[nodiscard]] std::vector<float> sum() const {
    const Item item = program_->read(program_->plan().outputs.front());
    std::vector<float> out(4);
    std::memcpy(out.data(), item.as<Tensor>()->data(), 16);
    return out;
  }
  [[nodiscard]] const DeviceMemory& memory() const { return host_.device->memory(); }

  StateMemory state_;
  HostOptions host_;
  std::unique_ptr<HostProgram> program_;
};

TEST_F(OnADevice, RunsMayBeStartedBehindEachOther) {
  std::size_t graphs = 0;
  std::size_t steps = 0;
  for (const auto& unit : program_->on_device()->partitions().front()) graphs += unit.is_captured;
  for (const auto& unit : program_->on_device()->steps()) steps += unit.run != nullptr;
  EXPECT_EQ(graphs, 2U);
  EXPECT_EQ(steps, 1U);
  start(1);
  program_->finish();
  EXPECT_EQ(sum(), (std::vector<float>{2, 2, 4, 6}));
  start(10);
  start(100);
  start(1000);
  program_->finish();
  EXPECT_EQ(sum(), (std::vector<float>{2222, 8, 16, 24}));
}

TEST_F(OnADevice, ARunCopiesItsInputsInAndWhatIsNewBack) {
  start(1);
  program_->finish();
  const std::int64_t to_device = memory().bytes_to_device();
  const std::int64_t to_host = memory().bytes_to_host();
  start(1);
  EXPECT_EQ(memory().bytes_to_device(), to_device + 16);
  EXPECT_EQ(memory().bytes_to_host(), to_host);
  start(1);
  program_->finish();
  EXPECT_EQ(memory().bytes_to_device(), to_device + 32);
  EXPECT_EQ(memory().bytes_to_host(), to_host + 16);  // the sum, which is the output
  // What a caller writes is there in the next run.
  std::fill_n(state_.pools.begin()->second->data(), state_.pools.begin()->second->size_bytes(),
              std::byte{0});
  ++state_.host_writes;
  start(4);
  program_->finish();
  EXPECT_EQ(sum(), (std::vector<float>{8, 2, 4, 6}));
}

// In front of a device: refuses what it is to load, as often as it is asked to.
class RefusingDevice final : public Device {
 public:
  static constexpr const char* kRefusal =
      "making partition 0 of @main ready: cuGraphUpload: CUDA_ERROR_OUT_OF_MEMORY (out of memory)";
  explicit RefusingDevice(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  [[nodiscard]] std::string description() const override { return device_->description(); }
  [[nodiscard]] DeviceMemory& memory() override { return device_->memory(); }
  std::vector<std::unique_ptr<DeviceRun>> load(const DeviceProgramText& text,
                                               std::span<const Job> jobs) override {
    if (refusals > 0) {
      --refusals;
      throw DeviceError(kRefusal);
    }
    ++loads;
    return device_->load(text, jobs);
  }
  void finish() override { device_->finish(); }

  int refusals = 0;
  int loads = 0;

 private:
  std::shared_ptr<Device> device_;
};

// Whatever a refused capture leaves behind, nothing of it runs, and nothing runs on the host for
// it: the next call records anew.
TEST(RefusedCaptures, FailOneCallAndTheNextRecordsAnew) {
  const auto emulated = emulated::make_emulated_device();
  if (!emulated.ok()) GTEST_SKIP() << emulated.error().message;
  const auto device = std::make_shared<RefusingDevice>(emulated.value());
  Options options;
  options.device = device;
  const Loaded loaded(kSums, options);
  const Inputs inputs = {f32({4}, {1, 2, 3, 4})};
  const auto expect_refused = [&] {
    device->refusals = 1;
    const Error result = failure_of(loaded.session->call(inputs));
    EXPECT_EQ(result.kind, ErrorKind::kInfrastructure);
    EXPECT_EQ(result.message, std::string("sums: ") + RefusingDevice::kRefusal);
  };
  expect_refused();
  EXPECT_EQ(loaded.run(inputs), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(loaded.run(inputs), (std::vector<float>{4, 8, 12, 16}));
  EXPECT_EQ(device->loads, 1);
  // The state moves, so that what was recorded has to be recorded anew.
  ASSERT_TRUE(loaded.session->set_state("sum", f32({4}, {1, 1, 1, 1}), true).ok());
  expect_refused();
  EXPECT_EQ(loaded.run(inputs), (std::vector<float>{3, 5, 7, 9}));
  EXPECT_EQ(device->loads, 2);
  // Another program on the same device.
  const Loaded other(kSums, options);
  EXPECT_EQ(other.run(inputs), (std::vector<float>{2, 4, 6, 8}));
}

// An input that stays where it is, at several sizes: its plans see one memory, from its beginning.
class CallersMemory : public testing::Test {
 protected:
  void SetUp() override {
    const auto emulated = emulated::make_emulated_device();
    if (!emulated.ok()) GTEST_SKIP() << emulated.error().message;
    device_ = std::make_shared<RefusingDevice>(emulated.value());
    input_.storage->bytes.reserve(16 * sizeof(float));
  }

  [[nodiscard]] Loaded load(std::size_t plans_kept) const {
    Options options;
    options.device = device_;
    options.runtime.static_inputs = {"x"};
    options.plans_kept = plans_kept;
    return Loaded(R"(program "sizes" {
  symbol s0 in [2, 16] hint 4
  input %x : f32[s0]
  %y : f32[s0] = aten.add.Tensor(%x, 1.0)
  output %y
})",
                  options);
  }

  // With these elements at the one address.
  Values run(const Loaded& loaded, const std::vector<float>& elements) {
    input_.sizes = {static_cast<std::int64_t>(elements.size())};
    input_.storage->bytes.resize(elements.size() * sizeof(float));
    std::memcpy(input_.storage->bytes.data(), elements.data(), elements.size() * sizeof(float));
    return loaded.run({input_});
  }

  std::shared_ptr<RefusingDevice> device_;
  spec::HostTensor input_ = spec::make_host_tensor(spec::DType::kFloat32, {2});
};

TEST_F(CallersMemory, IsReadByPlansOfAllSizes) {
  const Loaded loaded = load(8);
  EXPECT_EQ(run(loaded, {1, 2}), (Values{2, 3}));
  EXPECT_EQ(run(loaded, {3, 4, 5, 6}), (Values{4, 5, 6, 7}));
  EXPECT_EQ(run(loaded, {7, 8}), (Values{8, 9}));
  EXPECT_EQ(run(loaded, {1, 1, 1, 1}), (Values{2, 2, 2, 2}));
  EXPECT_EQ(run(loaded, {5, 6}), (Values{6, 7}));
  EXPECT_EQ(device_->loads, 3) << "the smaller plan is recorded again, once";
}

TEST_F(CallersMemory, OutlivesThePlanThatMadeItKnown) {
  const Loaded loaded = load(2);
  EXPECT_EQ(run(loaded, Values(16, 1.0F)), Values(16, 2.0F));
  EXPECT_EQ(run(loaded, {1, 2}), (Values{2, 3}));
  EXPECT_EQ(run(loaded, {1, 2, 3}), (Values{2, 3, 4}));  // the first plan is gone
  EXPECT_EQ(run(loaded, {8, 9}), (Values{9, 10}));
  EXPECT_EQ(run(loaded, {7, 8, 9}), (Values{8, 9, 10}));
}

}  // namespace
}  // namespace graphgate::optimized
