// Epilogues against plain loops.
#include "test/unit/emulator/libcublaslt/test_product.h"

#include <cmath>

namespace trainc::emulator {
namespace {

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

/// By a difference of two values.
double geluGradient(double x) {
  const double step = 1e-5;
  return (gelu(x + step) - gelu(x - step)) / (2 * step);
}

class EmulatedEpilogues : public testing::TestWithParam<cudaDataType> {
protected:
  /// Runs a product; `expected` returns the element of D for the sum at a position.
  using Expected =
      std::function<double(const ProductRun &, size_t batch, size_t row, size_t column, double sum)>;
  void expectEpilogue(cublasLtEpilogue_t epilogue, const Expected &expected) {
    gpu.emplace();
    run.emplace(*gpu, TestProduct{.batches = 2,
                                  .factorType = GetParam(),
                                  .resultType = GetParam(),
                                  .transposeA = true,
                                  .gap = 3,
                                  .epilogue = epilogue,
                                  .alpha = 0.5F,
                                  .beta = 0.25F});
    before.emplace(*run);
    CUstream stream = gpu->stream();
    ASSERT_CUBLAS(run->enqueue(stream));
    run->finish(stream);
    if (epilogue == CUBLASLT_EPILOGUE_GELU_AUX || epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS)
      run->aux.download(stream);
    forAll([&](size_t batch, size_t row, size_t column) {
      const double value = expected(*before, batch, row, column, before->sum(batch, row, column));
      ASSERT_NEAR(run->d.at(batch, row, column), value, tolerance(value))
          << "batch " << batch << ", row " << row << ", column " << column;
    });
  }
  template <typename Function> void forAll(Function function) const {
    for (size_t batch = 0; batch < run->product.batches; ++batch)
      for (size_t row = 0; row < run->product.rows; ++row)
        for (size_t column = 0; column < run->product.columns; ++column)
          function(batch, row, column);
  }
  double tolerance(double value) const {
    return 2e-5 + std::abs(value) * (GetParam() == CUDA_R_32F    ? 0
                                     : GetParam() == CUDA_R_16BF ? 0x1p-8
                                                                 : 0x1p-11);
  }
  /// The bias gradient is the sum of a function over `count` lines.
  template <typename Function> void expectSums(size_t elements, size_t count, Function function) {
    for (size_t batch = 0; batch < run->product.batches; ++batch)
      for (size_t element = 0; element < elements; ++element) {
        double sum = 0;
        for (size_t i = 0; i < count; ++i)
          sum += function(batch, element, i);
        ASSERT_NEAR(run->bias.at(batch, element, 0), sum, tolerance(sum))
            << "batch " << batch << ": " << element;
      }
  }

  std::optional<EmulatedGpu> gpu;
  std::optional<ProductRun> run, before; ///< `before` keeps the inputs of the product
};

INSTANTIATE_TEST_SUITE_P(Types, EmulatedEpilogues, testing::Values(CUDA_R_32F, CUDA_R_16BF, CUDA_R_16F));

TEST_P(EmulatedEpilogues, Bias) {
  expectEpilogue(CUBLASLT_EPILOGUE_BIAS, [](const ProductRun &run, size_t batch, size_t row, size_t,
                                            double sum) { return sum + run.bias.at(batch, row, 0); });
}

TEST_P(EmulatedEpilogues, Gelu) {
  expectEpilogue(CUBLASLT_EPILOGUE_GELU,
                 [](const ProductRun &, size_t, size_t, size_t, double sum) { return gelu(sum); });
}

TEST_P(EmulatedEpilogues, GeluWithBias) {
  expectEpilogue(CUBLASLT_EPILOGUE_GELU_BIAS,
                 [](const ProductRun &run, size_t batch, size_t row, size_t, double sum) {
                   return gelu(sum + run.bias.at(batch, row, 0));
                 });
}

TEST_P(EmulatedEpilogues, GeluKeepsItsOperand) {
  for (const auto epilogue : {CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS}) {
    const bool hasBias = epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
    const auto operand = [&](size_t batch, size_t row, size_t column) {
      return before->sum(batch, row, column) + (hasBias ? before->bias.at(batch, row, 0) : 0);
    };
    expectEpilogue(epilogue, [&](const ProductRun &, size_t batch, size_t row, size_t column, double) {
      return gelu(operand(batch, row, column));
    });
    forAll([&](size_t batch, size_t row, size_t column) {
      const double value = operand(batch, row, column);
      ASSERT_NEAR(run->aux.at(batch, row, column), value, tolerance(value));
    });
  }
}

TEST_P(EmulatedEpilogues, GradientOfGelu) {
  for (const auto epilogue : {CUBLASLT_EPILOGUE_DGELU, CUBLASLT_EPILOGUE_DGELU_BGRAD}) {
    const auto gradient = [&](size_t batch, size_t row, size_t column) {
      return before->sum(batch, row, column) * geluGradient(before->aux.at(batch, row, column));
    };
    expectEpilogue(epilogue, [&](const ProductRun &, size_t batch, size_t row, size_t column, double) {
      return gradient(batch, row, column);
    });
    if (epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD)
      expectSums(run->product.rows, run->product.columns, gradient);
  }
}

TEST_P(EmulatedEpilogues, GradientsOfBiasFromFactors) {
  const auto same = [](const ProductRun &, size_t, size_t, size_t, double sum) { return sum; };
  expectEpilogue(CUBLASLT_EPILOGUE_BGRADA, same);
  expectSums(run->product.rows, run->product.depth,
             [&](size_t batch, size_t row, size_t step) { return run->opA(batch, row, step); });
  expectEpilogue(CUBLASLT_EPILOGUE_BGRADB, same);
  expectSums(run->product.columns, run->product.depth,
             [&](size_t batch, size_t column, size_t step) { return run->opB(batch, step, column); });
}

TEST_P(EmulatedEpilogues, Relu) {
  expectEpilogue(CUBLASLT_EPILOGUE_RELU,
                 [](const ProductRun &, size_t, size_t, size_t, double sum) { return std::max(sum, 0.0); });
  expectEpilogue(CUBLASLT_EPILOGUE_RELU_BIAS,
                 [](const ProductRun &run, size_t batch, size_t row, size_t, double sum) {
                   return std::max(sum + run.bias.at(batch, row, 0), 0.0);
                 });
}

TEST_P(EmulatedEpilogues, GradientOfReluTakesTheForwardMask) {
  expectEpilogue(CUBLASLT_EPILOGUE_RELU_AUX,
                 [](const ProductRun &, size_t, size_t, size_t, double sum) { return std::max(sum, 0.0); });
  const TestMatrix forward = run->d;
  CUstream stream = gpu->stream();
  EXPECT_CUBLAS(run->set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t{CUBLASLT_EPILOGUE_DRELU_BGRAD}));
  ASSERT_CUBLAS(run->enqueue(stream));
  run->finish(stream);
  const auto gradient = [&](size_t batch, size_t row, size_t column) {
    return forward.at(batch, row, column) > 0 ? before->sum(batch, row, column) : 0;
  };
  forAll([&](size_t batch, size_t row, size_t column) {
    const double value = gradient(batch, row, column);
    ASSERT_NEAR(run->d.at(batch, row, column), value, tolerance(value));
  });
  expectSums(run->product.rows, run->product.columns, gradient);
}

} // namespace
} // namespace trainc::emulator
