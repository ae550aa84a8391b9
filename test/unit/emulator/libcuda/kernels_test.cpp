// Modules and kernels.
#include "test/unit/emulator/libcuda/emulated_gpu.h"

#include <gmock/gmock.h>

namespace trainc::emulator {
namespace {

/// Adds a number to each element; `far` is where thread 0 writes besides, if not null. A shared array is
/// there for its size.
constexpr const char *kPtx = R"(.version 7.0
.target sm_80
.address_size 64

.visible .entry add(
	.param .u64 add_param_0,
	.param .u64 add_param_1,
	.param .u32 add_param_2,
	.param .u32 add_param_3
)
{
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<6>;
	.shared .align 4 .b8 sums[4096];

	mov.u32 %r8, sums;
	ld.param.u64 %rd1, [add_param_0];
	ld.param.u64 %rd5, [add_param_1];
	ld.param.u32 %r1, [add_param_2];
	ld.param.u32 %r2, [add_param_3];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.s32 %r6, %r3, %r4, %r5;
	setp.ge.u32 %p1, %r6, %r2;
	@%p1 bra DONE;
	mul.wide.u32 %rd3, %r6, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.u32 %r7, [%rd4];
	add.s32 %r7, %r7, %r1;
	st.global.u32 [%rd4], %r7;
	setp.eq.s64 %p2, %rd5, 0;
	@%p2 bra DONE;
	st.global.u32 [%rd5], %r7;
DONE:
	ret;
}
)";

class EmulatedKernels : public testing::Test {
protected:
  EmulatedKernels() {
    EXPECT_CU(cuModuleLoadDataEx(&module, kPtx, 0, nullptr, nullptr));
    EXPECT_CU(cuModuleGetFunction(&add, module, "add"));
  }
  CUresult launch(unsigned blocks, unsigned threads, unsigned sharedBytes = 0, CUdeviceptr far = 0) {
    void *parameters[] = {&memory, &far, &number, &count};
    return cuLaunchKernel(add, blocks, 1, 1, threads, 1, 1, sharedBytes, stream, parameters, nullptr);
  }

  EmulatedGpu gpu;
  CUmodule module = nullptr;
  CUfunction add = nullptr;
  CUstream stream = gpu.stream();
  uint32_t number = 5, count = 100;
  CUdeviceptr memory = gpu.allocate(400);
};

TEST_F(EmulatedKernels, Run) {
  EXPECT_CU(cuMemsetD8Async(memory, 0, 400, stream));
  EXPECT_CU(launch(4, 32));
  number = 7; // the launch has its own
  EXPECT_CU(launch(1, 32));
  for (const uint32_t element : {0, 31, 32, 99})
    EXPECT_EQ(gpu.read<uint32_t>(memory + element * 4, stream), element < 32 ? 12U : 5U);
}

TEST_F(EmulatedKernels, RunInGraphs) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_CU(cuMemsetD8Async(memory, 0, 400, stream));
  EXPECT_CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_CU(launch(4, 32));
  EXPECT_CU(cuStreamEndCapture(stream, &graph));
  EXPECT_CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 3; ++i)
    EXPECT_CU(cuGraphLaunch(exec, stream));
  EXPECT_EQ(gpu.read<uint32_t>(memory, stream), 15U);
}

TEST_F(EmulatedKernels, FailWhereTheyReadOrWriteWhatTheyMayNot) {
  testing::internal::CaptureStderr();
  EXPECT_CU(cuMemsetD8Async(memory, 0, 400, stream));
  EXPECT_CU(launch(1, 1, 0, memory + 400));
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(launch(1, 1), CUDA_ERROR_ILLEGAL_ADDRESS); // for good
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(testing::HasSubstr("emulated GPU: device 0: kernel 'add', block (0,0,0)"),
                             testing::HasSubstr("st.global.u32")));
}

TEST_F(EmulatedKernels, FailWhereTheyAreMisaligned) {
  EXPECT_CU(cuMemsetD8Async(memory, 0, 400, stream));
  EXPECT_CU(launch(1, 1, 0, memory + 2));
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_MISALIGNED_ADDRESS);
}

TEST_F(EmulatedKernels, FailWhereTheyReadWhatNobodyWrote) {
  EXPECT_CU(launch(1, 1));
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(EmulatedKernels, HaveLimits) {
  int value = 0;
  EXPECT_CU(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, add));
  EXPECT_EQ(value, 4096);
  EXPECT_CU(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
  EXPECT_EQ(value, 1024);
  EXPECT_EQ(launch(0, 32), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1025), CUDA_ERROR_INVALID_VALUE);
  const unsigned maximum = (48 << 10) - 4096;
  EXPECT_EQ(launch(1, 32, maximum + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuMemsetD8Async(memory, 0, 400, stream));
  EXPECT_CU(launch(1, 32, maximum));
  EXPECT_CU(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
  EXPECT_CU(launch(1, 32, 100000));
  EXPECT_EQ(launch(1, 32, 100001), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (227 << 10) - 4095),
            CUDA_ERROR_INVALID_VALUE);
  void *parameters[] = {&memory, nullptr, &number, &count};
  EXPECT_EQ(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(cuStreamSynchronize(stream));
}

TEST_F(EmulatedKernels, TellTheirParameters) {
  size_t offset = 0, bytes = 0;
  EXPECT_CU(cuFuncGetParamInfo(add, 1, &offset, &bytes));
  EXPECT_EQ(offset, 8U);
  EXPECT_EQ(bytes, 8U);
  EXPECT_CU(cuFuncGetParamInfo(add, 3, &offset, nullptr));
  EXPECT_EQ(offset, 20U);
  EXPECT_EQ(cuFuncGetParamInfo(add, 4, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
}

/// `.maxntid` is a limit, `.reqntid` a promise.
TEST_F(EmulatedKernels, MayFixTheSizeOfBlocks) {
  count = 0; // else threads that differ in y alone would race
  EXPECT_CU(cuMemsetD8Async(memory, 0, 400, stream));
  for (const std::string directive : {"maxntid", "reqntid"}) {
    std::string text = kPtx;
    text.insert(text.find('{'), "." + directive + " 32, 2\n");
    CUmodule limited = nullptr;
    EXPECT_CU(cuModuleLoadDataEx(&limited, text.c_str(), 0, nullptr, nullptr));
    EXPECT_CU(cuModuleGetFunction(&add, limited, "add"));
    int maximum = 0;
    EXPECT_CU(cuFuncGetAttribute(&maximum, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
    EXPECT_EQ(maximum, 64);
    CUdeviceptr far = 0;
    void *parameters[] = {&memory, &far, &number, &count};
    const auto launchBlocks = [&](unsigned x, unsigned y) {
      return cuLaunchKernel(add, 1, 1, 1, x, y, 1, 0, stream, parameters, nullptr);
    };
    EXPECT_EQ(launchBlocks(64, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(launchBlocks(32, 1), directive == "maxntid" ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(launchBlocks(64, 1), directive == "maxntid" ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
    EXPECT_CU(launchBlocks(32, 2));
    EXPECT_CU(cuStreamSynchronize(stream));
  }
}

TEST_F(EmulatedKernels, GoWithTheirModule) {
  CUfunction missing = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&missing, module, "subtract"), CUDA_ERROR_NOT_FOUND);
  size_t atFirst = 0, before = 0, after = 0, total = 0;
  EXPECT_CU(cuMemGetInfo(&atFirst, &total));
  EXPECT_CU(cuFuncLoad(add));
  EXPECT_CU(cuMemGetInfo(&before, &total));
  EXPECT_GT(atFirst, before) << "code comes with the first kernel that is wanted";
  EXPECT_CU(cuModuleUnload(module));
  EXPECT_CU(cuMemGetInfo(&after, &total));
  EXPECT_GT(after, before);
  EXPECT_EQ(launch(1, 1), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}

TEST(EmulatedModules, AreOfPtxThatTheDeviceRuns) {
  const EmulatedGpu gpu(EmulatedGpu::Variables{{"TRAINC_EMULATOR_CAPABILITY", "7.5"}});
  CUmodule module = nullptr;
  const auto load = [&](const char *image) {
    char log[200];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    const CUresult result = cuModuleLoadDataEx(&module, image, 2, options, values);
    return std::pair(result, result == CUDA_ERROR_INVALID_PTX ? std::string(log) : "");
  };
  EXPECT_EQ(load("\177ELF...").first, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(load(kPtx),
            std::pair(CUDA_ERROR_INVALID_PTX, std::string("the target is sm_80, the device is sm_75")));
  const auto [result, log] = load(".version 7.0\n.target sm_70\n.address_size 64\nnonsense");
  EXPECT_EQ(result, CUDA_ERROR_INVALID_PTX);
  EXPECT_THAT(log, testing::HasSubstr("nonsense"));
}

} // namespace
} // namespace trainc::emulator
