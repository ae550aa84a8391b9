// Restrictions of the emulated cuBLASLt, and their messages.
#include "test/unit/emulator/libcublaslt/test_product.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace trainc::emulator {
namespace {

using testing::HasSubstr;

class EmulatedRefusals : public testing::Test {
protected:
  explicit EmulatedRefusals() {
    int found = 0;
    EXPECT_CUBLAS(run.find(result, found));
  }
  cublasStatus_t heuristic(int &found) {
    cublasLtMatmulHeuristicResult_t other{};
    return run.find(other, found);
  }
  void expectRefusal(cublasStatus_t status, const std::string &text) {
    testing::internal::CaptureStderr();
    int found = -1;
    EXPECT_EQ(heuristic(found), status);
    EXPECT_EQ(found, 0);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("cublasLtMatmulAlgoGetHeuristic: " + text));
  }
  void expectMatmulRefusal(const std::string &text) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run.multiply(result.algo, stream), CUBLAS_STATUS_INVALID_VALUE);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr("cublasLtMatmul: CUBLAS_STATUS_INVALID_VALUE: " + text));
  }
  void expectDeviceFailure(const std::string &text) {
    testing::internal::CaptureStderr();
    EXPECT_CUBLAS(run.multiply(result.algo, stream));
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("product of 37 x 41 x 29: " + text));
  }

  EmulatedGpu gpu;
  ProductRun run{gpu, {.factorType = CUDA_R_16BF, .resultType = CUDA_R_16BF, .gap = 3}};
  CUstream stream = gpu.stream();
  cublasLtMatmulHeuristicResult_t result{};
};

TEST_F(EmulatedRefusals, TooLittleWorkspace) {
  EXPECT_CUBLAS(run.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{1000}));
  expectRefusal(CUBLAS_STATUS_NOT_SUPPORTED,
                "CUBLAS_STATUS_NOT_SUPPORTED: at most 1000 bytes of workspace, the algorithm needs 32768");
  run.workspaceBytes = 1000;
  expectMatmulRefusal("1000 bytes of workspace");
}

/// Deviations from a supported fp8 product.
struct Fp8Case {
  const char *name;
  std::function<void(TestProduct &)> change;
  const char *text;
};

TEST(EmulatedFp8, IsRefusedAsByTensorCores) {
  const Fp8Case cases[] = {
      {"two of E5M2", [](auto &p) { p.factorType = CUDA_R_8F_E5M2; }, "factors of type 29 and 29"},
      {"fp8 with bf16", [](auto &p) { p.typeOfB = CUDA_R_16BF; }, "factors of type 28 and 14"},
      {"A as it is", [](auto &p) { p.transposeA = false; }, "fp8 needs A transposed, B as it is"},
      {"B transposed", [](auto &p) { p.transposeB = true; }, "fp8 needs A transposed, B as it is"},
      {"odd depth", [](auto &p) { p.depth = 40; },
       "fp8 needs columns and batches of multiples of 16 bytes, found 40"},
      {"odd rows", [](auto &p) { p.rows = 36; },
       "fp8 needs columns and batches of multiples of 16 bytes, found 36"},
      {"odd gaps", [](auto &p) { p.gap = 8; }, "found 56 elements of type 28"},
      {"an epilogue", [](auto &p) { p.epilogue = CUBLASLT_EPILOGUE_GELU; }, "fp8 with epilogue 32"},
      {"TF32", [](auto &p) { p.compute = CUBLAS_COMPUTE_32F_FAST_TF32; }, "fp8 with compute type 77"},
      {"fp8 results", [](auto &p) { p.resultType = CUDA_R_8F_E4M3; }, "none of a byte"},
      {"a scale of bf16",
       [](auto &p) {
         p.factorType = CUDA_R_16BF;
         p.scaleA = 2;
       },
       "A or B has a scale"},
  };
  const EmulatedGpu gpu;
  for (const Fp8Case &each : cases) {
    TestProduct product{.rows = 32, .columns = 29, .depth = 48, .factorType = CUDA_R_8F_E4M3};
    product.resultType = CUDA_R_16BF;
    product.transposeA = true;
    each.change(product);
    ProductRun run(gpu, product);
    cublasLtMatmulHeuristicResult_t result{};
    int found = -1;
    testing::internal::CaptureStderr();
    EXPECT_NE(run.find(result, found), CUBLAS_STATUS_SUCCESS) << each.name;
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(each.text)) << each.name;
  }
}

TEST(EmulatedFp8, NeedsItsCapabilityAndAlignment) {
  for (const auto &[capability, isThere] : {std::pair("8.6", false), std::pair("8.9", true)}) {
    const EmulatedGpu gpu(EmulatedGpu::Variables{{"TRAINC_EMULATOR_CAPABILITY", capability}});
    TestProduct product{.rows = 32, .columns = 29, .depth = 48, .factorType = CUDA_R_8F_E4M3};
    product.transposeA = true;
    ProductRun run(gpu, product);
    cublasLtMatmulHeuristicResult_t result{};
    int found = -1;
    EXPECT_EQ(run.find(result, found) == CUBLAS_STATUS_SUCCESS, isThere);
    EXPECT_CUBLAS(run.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, uint32_t{8}));
    EXPECT_EQ(run.find(result, found), CUBLAS_STATUS_NOT_SUPPORTED);
  }
}

TEST_F(EmulatedRefusals, TypesThatDoNotGoTogether) {
  run.c.type = CUDA_R_32F;
  expectRefusal(CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED: C and D must be of one type");
  run.d.type = CUDA_R_32F;
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, int32_t{CUDA_R_16BF}));
  int found = 0;
  EXPECT_CUBLAS(heuristic(found));
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_BIAS}));
  expectRefusal(CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED: the bias is of type");
  run.a.type = run.b.type = CUDA_R_16F;
  run.c.type = run.d.type = CUDA_R_16BF;
  expectRefusal(CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED: compute type");
  run.a.type = CUDA_R_64F;
  expectRefusal(CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED: A is of type 1,");
}

TEST_F(EmulatedRefusals, Tf32OfOtherTypes) {
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, int32_t{CUBLAS_COMPUTE_32F_FAST_TF32}));
  expectRefusal(CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED: compute type 77");
}

TEST_F(EmulatedRefusals, ShapesThatDoNotGoTogether) {
  const TestMatrix a = run.a;
  run.a.columns = 40;
  expectRefusal(CUBLAS_STATUS_INVALID_VALUE,
                "CUBLAS_STATUS_INVALID_VALUE: op(A) is 37 x 40, op(B) 41 x 29, and D 37 x 29");
  run.a = a;
  run.a.gap = static_cast<size_t>(-1);
  expectRefusal(CUBLAS_STATUS_INVALID_VALUE,
                "CUBLAS_STATUS_INVALID_VALUE: A has leading dimension 36, expected at least 37");
  run.a = a;
  run.a.batches = 2;
  expectRefusal(CUBLAS_STATUS_INVALID_VALUE,
                "CUBLAS_STATUS_INVALID_VALUE: A, B, C, D have 2, 1, 1, 1 batches");
}

TEST_F(EmulatedRefusals, AuxiliaryMatricesOfOtherShapes) {
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_GELU_AUX}));
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t{42}));
  expectRefusal(CUBLAS_STATUS_INVALID_VALUE,
                "CUBLAS_STATUS_INVALID_VALUE: the auxiliary matrix has leading dimension 42, "
                "expected a multiple of 8 and at least 37");
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, int64_t{40}));
  int found = 0;
  EXPECT_CUBLAS(heuristic(found));
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_RELU_AUX}));
  expectRefusal(CUBLAS_STATUS_INVALID_VALUE,
                "CUBLAS_STATUS_INVALID_VALUE: the auxiliary matrix has leading dimension 40");
}

TEST_F(EmulatedRefusals, EpiloguesByRows) {
  run.c.order = run.d.order = CUBLASLT_ORDER_ROW;
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_BIAS}));
  expectRefusal(CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED: an epilogue needs D by columns");
}

TEST_F(EmulatedRefusals, AlgorithmsOfOtherProducts) {
  run.b.gap = 4;
  expectMatmulRefusal("the algorithm is not the one that was found for this product");
}

TEST_F(EmulatedRefusals, PointersThatAreLessAlignedThanWasSaid) {
  run.a.address += 4;
  expectMatmulRefusal("A is at");
  EXPECT_CUBLAS(run.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, uint32_t{4}));
  int found = 0;
  EXPECT_CUBLAS(run.find(result, found));
  expectDeviceFailure("A: "); // the matrix reaches beyond its memory now
}

/// A bias is taken to be aligned as where it was when the algorithm was chosen.
TEST_F(EmulatedRefusals, ABiasThatIsLessAlignedThanItWas) {
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_BIAS}));
  int found = 0;
  EXPECT_CUBLAS(run.find(result, found));
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, run.bias.address + 2));
  expectMatmulRefusal(fmt::format("the bias is at {:#x}, expected a multiple of 16", run.bias.address + 2));
  EXPECT_CUBLAS(run.find(result, found));
  expectDeviceFailure("bias: "); // it reaches beyond its memory now
}

TEST_F(EmulatedRefusals, MemoryThatOverlaps) {
  const CUdeviceptr d = run.d.address, workspace = run.workspace;
  run.d.address = run.a.address;
  expectMatmulRefusal("D overlaps a factor");
  run.d.address = run.c.address + 16;
  expectMatmulRefusal("C overlaps D and is not the same");
  run.d.address = d;
  run.workspace = run.b.address;
  expectMatmulRefusal("the workspace overlaps a matrix");
  run.workspace = workspace;
  EXPECT_CUBLAS(run.multiply(result.algo, stream));
  EXPECT_CU(cuStreamSynchronize(stream));
}

TEST_F(EmulatedRefusals, ABiasThatIsMissing) {
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_BIAS}));
  EXPECT_CUBLAS(run.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, CUdeviceptr{0}));
  int found = 0;
  EXPECT_CUBLAS(run.find(result, found));
  expectMatmulRefusal("the epilogue needs a bias, which is at 0x0");
}

TEST_F(EmulatedRefusals, FactorsThatWereNeverWritten) {
  run.b.allocate(gpu);
  expectDeviceFailure("B: batch 0: column 0 has elements that were never written");
}

TEST_F(EmulatedRefusals, MemoryThatWasFreed) {
  EXPECT_CU(cuMemFree(run.a.address));
  expectDeviceFailure("A: 1 batches of 37 x 41 elements at");
}

/// Streams that use one workspace at a time spoil it for each other.
TEST(EmulatedWorkspace, BelongsToOneProductAtATime) {
  bool wasFound = false;
  for (uint64_t seed = 0; seed < 20 && !wasFound; ++seed) {
    Gate gate;
    const EmulatedGpu gpu(seed);
    ProductRun one(gpu, {}), two(gpu, {});
    CUstream first = gpu.stream(), second = gpu.stream();
    two.workspace = one.workspace;
    gate.hold(first);
    gate.hold(second);
    EXPECT_CUBLAS(one.enqueue(first));
    EXPECT_CUBLAS(two.enqueue(second));
    gate.open();
    wasFound = cuStreamSynchronize(first) != CUDA_SUCCESS || cuStreamSynchronize(second) != CUDA_SUCCESS;
  }
  EXPECT_TRUE(wasFound);
}

TEST(EmulatedLibrary, FailsOnRequest) {
  const EmulatedGpu gpu(
      EmulatedGpu::Variables{{"TRAINC_EMULATOR_FAULT", "cublasLtCreate:2=CUBLAS_STATUS_ALLOC_FAILED"}});
  cublasLtHandle_t handle = nullptr, other = nullptr;
  EXPECT_CUBLAS(cublasLtCreate(&handle));
  EXPECT_EQ(cublasLtCreate(&other), CUBLAS_STATUS_ALLOC_FAILED);
  EXPECT_CUBLAS(cublasLtDestroy(handle));
  EXPECT_EQ(cublasLtDestroy(handle), CUBLAS_STATUS_INVALID_VALUE);
}

TEST(EmulatedLibrary, SaysItsVersion) {
  EXPECT_EQ(cublasLtGetVersion(), size_t{CUBLAS_VERSION});
  setenv("TRAINC_EMULATOR_CUBLASLT", "130000", 1);
  EXPECT_EQ(cublasLtGetVersion(), 130000U);
  unsetenv("TRAINC_EMULATOR_CUBLASLT");
  EXPECT_STREQ(cublasLtGetStatusString(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
}

TEST(EmulatedLibrary, DescriptorsAreWhatTheySay) {
  cublasLtMatmulDesc_t operation = nullptr;
  EXPECT_CUBLAS(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const int64_t value = 0;
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &value, sizeof value),
            CUBLAS_STATUS_INVALID_VALUE); // an int32_t
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_FILL_MODE, &value, 4),
            CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_CUBLAS(cublasLtMatmulDescDestroy(operation));
  EXPECT_EQ(cublasLtMatmulDescDestroy(operation), CUBLAS_STATUS_INVALID_VALUE);
}

} // namespace
} // namespace trainc::emulator
