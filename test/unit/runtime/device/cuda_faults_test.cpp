// Messages if there is no GPU, no driver, an old driver, or no memory. Each case is a child process, because
// the emulated driver reads the environment when it starts.
#include "plan/schema/cudnn_attention.h"
#include "runtime/device/cuda/cuda_device.h"
#include "test/unit/runtime/device/attention_numbers.h"
#include "test/unit/runtime/device/short_numbers.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/ranges.h>
#include <fstream>
#include <gmock/gmock.h>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

namespace trainc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CudaFaults : public testing::Test {
protected:
  CudaFaults() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  ~CudaFaults() override {
    for (const auto &[name, before] : std::views::reverse(before_))
      if (before)
        ::setenv(name, before->c_str(), 1);
      else
        ::unsetenv(name);
  }

  /// For the process that a case starts.
  void set(const char *name, const char *value) {
    const char *before = std::getenv(name);
    before_.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
    ::setenv(name, value, 1);
  }

private:
  std::vector<std::pair<const char *, std::optional<std::string>>> before_;
};

/// Ends the process with the status.
[[noreturn]] void leave(const Status &status) {
  std::fputs(status.message().c_str(), stderr);
  std::_Exit(status.exitCode());
}

[[noreturn]] void openAndLeave(CudaPlace place = {}) {
  const auto device = CudaDevice::open(place);
  leave(device.status());
}

TEST_F(CudaFaults, NoDriver) {
  set("LD_LIBRARY_PATH", "/nowhere");
  EXPECT_EXIT(openAndLeave(), testing::ExitedWithCode(1),
              AllOf(HasSubstr("cannot load libcuda.so.1: "), HasSubstr("install the NVIDIA driver")));
}

TEST_F(CudaFaults, OldDriver) {
  set("TRAINC_EMULATOR_DRIVER", "12040");
  EXPECT_EXIT(openAndLeave(), testing::ExitedWithCode(1),
              HasSubstr("expected an NVIDIA driver for CUDA 13.0 or newer, found 12.4; install"));
}

TEST_F(CudaFaults, NoGpu) {
  set("TRAINC_EMULATOR_DEVICES", "0");
  EXPECT_EXIT(openAndLeave(), testing::ExitedWithCode(1),
              AllOf(HasSubstr("CUDA_ERROR_NO_DEVICE"), HasSubstr("CUDA_VISIBLE_DEVICES")));
}

TEST_F(CudaFaults, OldGpu) {
  set("TRAINC_EMULATOR_CAPABILITY", "7.5");
  EXPECT_EXIT(openAndLeave(), testing::ExitedWithCode(2),
              HasSubstr("expected compute capability 8.0 or higher (A100, RTX 30 or newer), found 7.5"));
}

TEST_F(CudaFaults, MoreRanksThanGpus) {
  set("TRAINC_EMULATOR_DEVICES", "2");
  EXPECT_EXIT(openAndLeave({.index = 2, .ranks = 4}), testing::ExitedWithCode(2),
              HasSubstr("rank 2 of 4 on this host: expected a GPU for each, found 2; start at most 2 ranks"));
}

TEST_F(CudaFaults, ARankTakesTheOneGpuThatItSees) {
  set("TRAINC_EMULATOR_DEVICES", "4");
  set("CUDA_VISIBLE_DEVICES", "2");
  EXPECT_EXIT(openAndLeave({.index = 3, .ranks = 4}), testing::ExitedWithCode(0), "");
}

TEST_F(CudaFaults, SharesAGpuWhereTheCommunicatorCan) {
  set("TRAINC_EMULATOR_DEVICES", "2");
  EXPECT_EXIT(openAndLeave({.index = 3, .ranks = 4, .mayShare = true}), testing::ExitedWithCode(0), "");
}

[[noreturn]] void measureAndLeave() {
  const auto device = CudaDevice::open({});
  const Result<DeviceRates> rates = device.ok() ? (*device)->measureRates() : device.status();
  if (rates.ok())
    leave(failed("{:.1f} and {:.1f} TFLOP/s", rates->tf32Flops * 1e-12, rates->halfFlops * 1e-12));
  leave(rates.status());
}

/// Data sheets count at another clock than the highest one. MFU is held to them, and rooflines are.
TEST_F(CudaFaults, PeaksAreThoseOfDataSheets) {
  for (const auto &[name, peaks] : {std::pair("NVIDIA H100 80GB HBM3", "494.7 and 989.4 TFLOP/s"),
                                    std::pair("NVIDIA H100 PCIe", "378.2 and 756.5 TFLOP/s"),
                                    std::pair("emulated GPU", "535.3 and 1070.5 TFLOP/s")}) {
    set("TRAINC_EMULATOR_NAME", name);
    EXPECT_EXIT(measureAndLeave(), testing::ExitedWithCode(1), HasSubstr(peaks));
  }
}

TEST_F(CudaFaults, NewGpusHaveARoofline) {
  for (const char *capability : {"10.3", "11.0", "12.1"}) {
    set("TRAINC_EMULATOR_CAPABILITY", capability);
    EXPECT_EXIT(measureAndLeave(), testing::ExitedWithCode(1), testing::Not(HasSubstr("0.0 TFLOP/s")))
        << capability;
  }
}

TEST_F(CudaFaults, AnErrorHasItsCall) {
  set("TRAINC_EMULATOR_FAULT", "cuStreamCreateWithPriority:2=CUDA_ERROR_UNKNOWN");
  EXPECT_EXIT(openAndLeave(), testing::ExitedWithCode(1),
              HasSubstr("cuStreamCreateWithPriority: CUDA_ERROR_UNKNOWN ("));
}

[[noreturn]] void allocateAndLeave(fb::Space space, uint64_t bytes) {
  const auto device = CudaDevice::open({});
  leave(device.ok() ? (*device)->allocate("scratch", space, bytes, nullptr).status() : device.status());
}

TEST_F(CudaFaults, NoMemoryOnTheGpu) {
  set("TRAINC_EMULATOR_MEMORY", "100000000");
  EXPECT_EXIT(allocateAndLeave(fb::Space::Device, 200000000), testing::ExitedWithCode(1),
              AllOf(HasSubstr("arena 'scratch': expected 200000000 bytes of GPU 0 ("),
                    HasSubstr("free of 100000000")));
}

TEST_F(CudaFaults, NoMemoryForAContext) {
  set("TRAINC_EMULATOR_FAULT", "cuDevicePrimaryCtxRetain:1=CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EXIT(openAndLeave(), testing::ExitedWithCode(1),
              AllOf(HasSubstr("GPU 0 ("), HasSubstr("expected room for the driver's own part"),
                    HasSubstr("end what else uses the GPU (nvidia-smi)")));
}

TEST_F(CudaFaults, NoPinnedMemory) {
  set("TRAINC_EMULATOR_FAULT", "cuMemHostAlloc:3=CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EXIT(allocateAndLeave(fb::Space::Host, 4096), testing::ExitedWithCode(1),
              AllOf(HasSubstr("arena 'scratch': expected 4096 bytes of pinned memory of the host"),
                    HasSubstr("ulimit -l")));
}

TEST_F(CudaFaults, ACopyFailsLater) {
  set("TRAINC_EMULATOR_FAULT", "cuMemcpyHtoDAsync:1=CUDA_ERROR_LAUNCH_FAILED");
  const auto writeAndLeave = [] {
    const auto device = CudaDevice::open({});
    const DeviceAddress address = *(*device)->allocate("test", fb::Space::Device, 4, nullptr);
    const float value = 1;
    (*device)->write(address, std::as_bytes(std::span(&value, 1)));
    leave((*device)->synchronise());
  };
  EXPECT_EXIT(writeAndLeave(), testing::ExitedWithCode(1),
              HasSubstr("cuMemcpyHtoDAsync_v2: CUDA_ERROR_LAUNCH_FAILED"));
}

/// Attention of bf16, or its gradient, with more workspace than the emulated library asks for. What went well
/// says which engine ran.
[[noreturn]] void attendAndLeave(fb::AttentionPass pass, uint64_t positions = 4) {
  const auto device = CudaDevice::open({});
  constexpr uint64_t kEnough = uint64_t{1} << 20;
  const AttentionNumbers numbers({"", 1, positions, positions, 2, 2, 8, 8}, [](float each) { return each; });
  OneCall call(**device);
  const auto hold = [&](size_t count) { return holdAs(call, fb::DType::BF16, Numbers(count, 0.5F)); };
  fb::AttentionT attention = attentionOf(numbers.c, pass);
  attention.values = fb::DType::BF16;
  attention.query = hold(numbers.q.size());
  attention.key = hold(numbers.k.size());
  attention.value = hold(numbers.v.size());
  attention.out = hold(numbers.out.size());
  attention.log_sum_exp = call.hold(Numbers(numbers.lse.size(), 1));
  if (pass == fb::AttentionPass::Backward) {
    attention.out_gradient = hold(numbers.dout.size());
    attention.query_gradient = hold(numbers.dq.size());
    attention.key_gradient = hold(numbers.dk.size());
    attention.value_gradient = hold(numbers.dv.size());
  }
  attention.workspace = call.holdBytes(kEnough);
  attention.workspace_bytes = kEnough;
  call.builder.attention(call.body(), std::move(attention));
  leave(call.run());
}

[[noreturn]] void multiplyAndLeave() {
  const auto device = CudaDevice::open({});
  constexpr uint64_t kEnough = uint64_t{1} << 20;
  OneCall call(**device);
  fb::MatrixProductT product = denseProduct(8, 8, 8);
  product.a = call.hold(Numbers(64, 1));
  product.b = call.hold(Numbers(64, 1));
  product.result = call.hold(Numbers(64));
  product.workspace = call.holdBytes(kEnough);
  product.workspace_bytes = kEnough;
  call.builder.product(call.body(), std::move(product));
  leave(call.run());
}

/// The system may have a cuDNN of its own, so this one hides it, and is none.
TEST_F(CudaFaults, NoCudnn) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "without_cudnn";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "libcudnn.so.9") << "no library";
  set("LD_LIBRARY_PATH", (folder.string() + ":" + std::getenv("LD_LIBRARY_PATH")).c_str());
  EXPECT_EXIT(attendAndLeave(fb::AttentionPass::Forward), testing::ExitedWithCode(1),
              AllOf(HasSubstr("instruction 0 (test.op at test.mlir:1): cannot load libcudnn.so.9: "),
                    HasSubstr("install cuDNN 9.18 or newer for CUDA 13")));
}

TEST_F(CudaFaults, OldCudnn) {
  set("TRAINC_EMULATOR_CUDNN", "90900");
  EXPECT_EXIT(
      attendAndLeave(fb::AttentionPass::Forward), testing::ExitedWithCode(1),
      AllOf(HasSubstr("(test.op at test.mlir:1): expected cuDNN 9.18.0 or newer, found 9.9.0; install "
                      "cuDNN 9.18 or newer"),
            HasSubstr("--library-calls=products")));
}

/// The file's name may lie.
TEST_F(CudaFaults, CudnnOfALaterMajorVersion) {
  set("TRAINC_EMULATOR_CUDNN", "100000");
  EXPECT_EXIT(attendAndLeave(fb::AttentionPass::Forward), testing::ExitedWithCode(1),
              HasSubstr("(test.op at test.mlir:1): expected cuDNN 9, found 10.0.0; install cuDNN 9.18"));
}

/// Not only the one whose header this was compiled with.
TEST_F(CudaFaults, TheOldestLibrariesThatDo) {
  set("TRAINC_EMULATOR_CUDNN", "91800");
  EXPECT_EXIT(attendAndLeave(fb::AttentionPass::Forward), testing::ExitedWithCode(0), "");
  set("TRAINC_EMULATOR_CUBLASLT", "130000");
  EXPECT_EXIT(multiplyAndLeave(), testing::ExitedWithCode(0), "");
  set("TRAINC_EMULATOR_CUBLASLT", "120900");
  EXPECT_EXIT(multiplyAndLeave(), testing::ExitedWithCode(1),
              AllOf(HasSubstr("(test.op at test.mlir:1): expected cuBLASLt 13.0.0 or newer, found 12.9.0; "
                              "install cuBLAS"),
                    HasSubstr("libcublas-13-0"), HasSubstr("--library-calls=attention or none")));
}

TEST_F(CudaFaults, CudnnHasNoMemory) {
  set("TRAINC_EMULATOR_FAULT", "cudnnCreate:1=CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED");
  EXPECT_EXIT(attendAndLeave(fb::AttentionPass::Forward), testing::ExitedWithCode(1),
              HasSubstr("entry init, instruction 0 (test.op at test.mlir:1): cudnnCreate: "
                        "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED (error 4003)"));
}

TEST_F(CudaFaults, CudnnFailsWhenItRuns) {
  set("TRAINC_EMULATOR_FAULT", "cudnnBackendExecute:1=CUDNN_STATUS_EXECUTION_FAILED");
  EXPECT_EXIT(attendAndLeave(fb::AttentionPass::Forward), testing::ExitedWithCode(1),
              HasSubstr("instruction 0 (test.op at test.mlir:1): cudnnBackendExecute: "
                        "CUDNN_STATUS_EXECUTION_FAILED (error 5000)"));
}

/// Attention repeats its bits on all GPUs.
TEST_F(CudaFaults, AttentionOnOldGpus) {
  set("TRAINC_EMULATOR_CAPABILITY", "8.6");
  EXPECT_EXIT(attendAndLeave(fb::AttentionPass::Forward), testing::ExitedWithCode(0), "");
}

/// A plan of two layers, compiled with that report.
[[noreturn]] void loadGradientsAndLeave(const std::string &report) {
  const auto device = CudaDevice::open({});
  PlanBuilder builder;
  builder.plan.target = "cuda";
  builder.plan.report = report;
  for (int layer = 0; layer < 2; ++layer) {
    fb::AttentionT attention;
    attention.pass = fb::AttentionPass::Backward;
    builder.attention(builder.entry("init").instructions, std::move(attention));
  }
  PlanBytes bytes(builder.payload());
  leave((*device)->loadKernels(*fb::GetPlan(bytes.payload().data())));
}

/// Few repeat the bits of gradients.
TEST_F(CudaFaults, GradientsOfAttentionOnOldGpus) {
  constexpr const char *kWhy =
      "^the plan leaves the gradient of attention to cuDNN: expected a GPU of compute "
      "capability 9.0 to 10.3 .*, found GPU 0 \\(.*\\) of 8.6; compile the model ";
  constexpr const char *kByCalls =
      R"({"setting": "library_calls", "value": "all", "source": "--library-calls"})";
  constexpr const char *kByGpu = R"({"setting": "gpu", "value": "h200", "source": "--gpu"})";
  const auto report = [](const std::vector<std::string> &settings) {
    return fmt::format(R"({{"settings": [{}]}})", fmt::join(settings, ", "));
  };
  const auto expect = [&](const std::string &of, const std::string &advice) {
    EXPECT_EXIT(loadGradientsAndLeave(of), testing::ExitedWithCode(2),
                testing::MatchesRegex(kWhy + advice +
                                      ", which leaves it to kernels of the plan, or use another GPU"));
  };
  set("TRAINC_EMULATOR_CAPABILITY", "8.6");
  expect(report({kByGpu}), "without --gpu, or with --gpu=a100");
  expect(report({kByCalls}), "without --library-calls=all");
  expect(report({kByCalls, kByGpu}), "without --library-calls=all and without --gpu, or with --gpu=a100");
}

TEST_F(CudaFaults, AGradientOfOneQueryAndKeyIsNamed) {
  EXPECT_EXIT(attendAndLeave(fb::AttentionPass::Backward, 1), testing::ExitedWithCode(2),
              AllOf(HasSubstr("no gradient of one query and one key), found a gradient of bf16"),
                    HasSubstr("1 queries, 1 keys")));
}

/// A plan of a product of fp8 numbers on the first GPU.
[[noreturn]] void loadF8AndLeave() {
  const auto device = CudaDevice::open({});
  PlanBuilder builder;
  builder.plan.target = "cuda";
  fb::MatrixProductT product = denseProduct(16, 16, 16, false, true);
  product.factors = fb::DType::F8E4M3;
  builder.product(builder.entry("init").instructions, std::move(product));
  PlanBytes bytes(builder.payload());
  leave((*device)->loadKernels(*fb::GetPlan(bytes.payload().data())));
}

TEST_F(CudaFaults, Fp8OnOldGpus) {
  set("TRAINC_EMULATOR_CAPABILITY", "8.6");
  EXPECT_EXIT(
      loadF8AndLeave(), testing::ExitedWithCode(2),
      AllOf(HasSubstr("the plan multiplies fp8 numbers: expected a GPU of compute capability 8.9 or higher "
                      "(RTX 40, L40S, H100 or newer), found GPU 0 ("),
            HasSubstr(") of 8.6; compile the model without --product-type=fp8")));
}

/// There the engine has to be named.
TEST_F(CudaFaults, GradientsOfAttentionOnBlackwell) {
  set("TRAINC_EMULATOR_CAPABILITY", "10.0");
  for (const char *version : {"92000", "92300"}) {
    set("TRAINC_EMULATOR_CUDNN", version);
    EXPECT_EXIT(attendAndLeave(fb::AttentionPass::Backward), testing::ExitedWithCode(0), "");
  }
}

/// As NVIDIA's own frontend of cuDNN has it.
TEST(CudnnAttentionSizes, AGradientOfOneQueryAndKeyIsLeftToAKernel) {
  CudnnAttentionSizes sizes{
      .queries = 1, .keys = 1, .heads = 2, .keyHeads = 2, .headSize = 64, .valueSize = 64};
  sizes.isShort = true;
  EXPECT_TRUE(isCudnnAttention(sizes));
  sizes.isBackward = true;
  EXPECT_FALSE(isCudnnAttention(sizes));
  sizes.keys = 2;
  EXPECT_TRUE(isCudnnAttention(sizes));
}

} // namespace
} // namespace trainc::test
