#include "test/unit/emulator/libcublaslt/test_product.h"

#include "base/float8.h"
#include "base/small_float.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace trainc::emulator {

namespace {

uint16_t bitsOf(cudaDataType type, float value) {
  return type == CUDA_R_16BF      ? BFloat16::nearest(value).bits
         : type == CUDA_R_8F_E4M3 ? Float8E4M3::nearest(value).bits
         : type == CUDA_R_8F_E5M2 ? Float8E5M2::nearest(value).bits
                                  : Float16::nearest(value).bits;
}

float numberOf(cudaDataType type, uint16_t bits) {
  const auto byte = static_cast<uint8_t>(bits);
  return type == CUDA_R_16BF      ? static_cast<float>(BFloat16{bits})
         : type == CUDA_R_8F_E4M3 ? static_cast<float>(Float8E4M3{byte})
         : type == CUDA_R_8F_E5M2 ? static_cast<float>(Float8E5M2{byte})
                                  : static_cast<float>(Float16{bits});
}

/// As cvt.rna.tf32.f32 does, by arithmetic.
float tf32(float value) {
  if (value == 0)
    return value;
  const float unit = std::ldexp(1.0F, std::ilogb(value) - 10);
  return std::round(value / unit) * unit;
}

} // namespace

float rounded(cudaDataType type, float value) {
  return type == CUDA_R_32F ? value : numberOf(type, bitsOf(type, value));
}

void TestMatrix::fill(std::mt19937_64 &random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  values.resize(batches * rows * columns);
  for (float &value : values)
    value = rounded(type, uniform(random));
}

void TestMatrix::upload(CUstream stream) const {
  std::vector<std::byte> line(lineElements() * bytes());
  for (size_t batch = 0; batch < batches; ++batch)
    for (size_t i = 0; i < lines(); ++i) {
      for (size_t j = 0; j < lineElements(); ++j) {
        const float value = order == CUBLASLT_ORDER_COL ? at(batch, j, i) : at(batch, i, j);
        const uint16_t bits = bitsOf(type, value);
        std::memcpy(line.data() + j * bytes(), type == CUDA_R_32F ? static_cast<const void *>(&value) : &bits,
                    bytes());
      }
      EXPECT_CU(cuMemcpyHtoDAsync(address + (batch * batchStride() + i * ld()) * bytes(), line.data(),
                                  line.size(), stream));
    }
}

void TestMatrix::download(CUstream stream) {
  std::vector<std::byte> line(lineElements() * bytes());
  values.assign(batches * rows * columns, 0);
  for (size_t batch = 0; batch < batches; ++batch)
    for (size_t i = 0; i < lines(); ++i) {
      EXPECT_CU(cuMemcpyDtoHAsync(line.data(), address + (batch * batchStride() + i * ld()) * bytes(),
                                  line.size(), stream));
      for (size_t j = 0; j < lineElements(); ++j) {
        float value = 0;
        uint16_t bits = 0;
        std::memcpy(type == CUDA_R_32F ? static_cast<void *>(&value) : &bits, line.data() + j * bytes(),
                    bytes());
        (order == CUBLASLT_ORDER_COL ? at(batch, j, i) : at(batch, i, j)) =
            type == CUDA_R_32F ? value : numberOf(type, bits);
      }
    }
}

cublasLtMatrixLayout_t TestMatrix::layout() const {
  cublasLtMatrixLayout_t made = nullptr;
  const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, auto value) {
    EXPECT_CUBLAS(cublasLtMatrixLayoutSetAttribute(made, attribute, &value, sizeof value));
  };
  EXPECT_CUBLAS(cublasLtMatrixLayoutCreate(&made, type, rows, columns, static_cast<int64_t>(ld())));
  set(CUBLASLT_MATRIX_LAYOUT_ORDER, static_cast<int32_t>(order));
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(batches));
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, static_cast<int64_t>(batchStride()));
  return made;
}

ProductRun::ProductRun(const EmulatedGpu &gpu, const TestProduct &tested) : product(tested) {
  const auto &p = product;
  const auto matrix = [&](cudaDataType type, cublasLtOrder_t order, bool isTransposed, size_t rows,
                          size_t columns) {
    return TestMatrix{.type = type,
                      .order = order,
                      .rows = isTransposed ? columns : rows,
                      .columns = isTransposed ? rows : columns,
                      .batches = p.batches,
                      .gap = p.gap};
  };
  a = matrix(p.factorType, p.orderA, p.transposeA, p.rows, p.depth);
  b = matrix(p.typeOfB.value_or(p.factorType), p.orderB, p.transposeB, p.depth, p.columns);
  c = d = matrix(p.resultType, p.orderD, false, p.rows, p.columns);
  const bool isPerColumn = p.epilogue == CUBLASLT_EPILOGUE_BGRADB;
  bias = {.type = p.resultType, .rows = isPerColumn ? p.columns : p.rows, .columns = 1, .batches = p.batches};
  aux = {.type = p.resultType, .rows = p.rows, .columns = p.columns, .batches = p.batches};
  aux.gap = (p.rows + 127) / 128 * 128 - p.rows; // as bits of a mask, too
  std::mt19937_64 random(p.seed);
  CUstream stream = gpu.stream();
  for (TestMatrix *each : {&a, &b, &c, &d, &bias, &aux}) {
    each->fill(random);
    each->allocate(gpu);
    if (each != &d)
      each->upload(stream);
  }
  for (const auto &[scale, address] : {std::pair(p.scaleA, &scaleA), std::pair(p.scaleB, &scaleB)})
    if (scale != 1) {
      *address = gpu.allocate(sizeof scale);
      gpu.write(*address, scale, stream);
    }
  EXPECT_CU(cuStreamSynchronize(stream));
  workspace = gpu.allocate(workspaceBytes);
  EXPECT_CUBLAS(cublasLtCreate(&handle));
  handleOwner_ = {nullptr, [handle = handle](void *) { EXPECT_CUBLAS(cublasLtDestroy(handle)); }};
  EXPECT_CUBLAS(cublasLtMatmulDescCreate(&operation, p.compute, CUDA_R_32F));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t{p.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N}));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_TRANSB, int32_t{p.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N}));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(p.epilogue)));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.address));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, static_cast<int64_t>(bias.batchStride())));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<int32_t>(p.resultType)));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux.address));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, static_cast<int64_t>(aux.ld())));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, static_cast<int64_t>(aux.batchStride())));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scaleA));
  EXPECT_CUBLAS(set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scaleB));
  EXPECT_CUBLAS(cublasLtMatmulPreferenceCreate(&preference));
  EXPECT_CUBLAS(prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{workspaceBytes}));
}

cublasStatus_t ProductRun::find(cublasLtMatmulHeuristicResult_t &result, int &found) {
  return cublasLtMatmulAlgoGetHeuristic(handle, operation, a.layout(), b.layout(), c.layout(), d.layout(),
                                        preference, 1, &result, &found);
}

cublasStatus_t ProductRun::multiply(const cublasLtMatmulAlgo_t &algorithm, CUstream stream) {
  const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
  return cublasLtMatmul(handle, operation, &product.alpha, pointer(a.address), a.layout(), pointer(b.address),
                        b.layout(), &product.beta, pointer(c.address), c.layout(), pointer(d.address),
                        d.layout(), &algorithm, pointer(workspace), workspaceBytes, stream);
}

cublasStatus_t ProductRun::enqueue(CUstream stream) {
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  if (const cublasStatus_t status = find(result, found))
    return status;
  EXPECT_EQ(found, 1);
  EXPECT_CUBLAS(result.state);
  EXPECT_LE(result.workspaceSize, workspaceBytes);
  return multiply(result.algo, stream);
}

void ProductRun::finish(CUstream stream) {
  EXPECT_CU(cuStreamSynchronize(stream));
  d.download(stream);
  bias.download(stream);
}

float ProductRun::opA(size_t batch, size_t row, size_t step) const {
  const float value = product.transposeA ? a.at(batch, step, row) : a.at(batch, row, step);
  return product.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? tf32(value) : value;
}

float ProductRun::opB(size_t batch, size_t step, size_t column) const {
  const float value = product.transposeB ? b.at(batch, column, step) : b.at(batch, step, column);
  return product.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? tf32(value) : value;
}

double ProductRun::sum(size_t batch, size_t row, size_t column) const {
  double sum = 0;
  for (size_t step = 0; step < product.depth; ++step)
    sum += double{opA(batch, row, step)} * opB(batch, step, column);
  return double{product.alpha} * product.scaleA * product.scaleB * sum +
         product.beta * double{c.at(batch, row, column)};
}

double ProductRun::magnitude(size_t batch, size_t row, size_t column) const {
  double sum = std::abs(product.beta * c.at(batch, row, column));
  for (size_t step = 0; step < product.depth; ++step)
    sum += std::abs(product.alpha * product.scaleA * product.scaleB * double{opA(batch, row, step)} *
                    opB(batch, step, column));
  return sum;
}

} // namespace trainc::emulator
