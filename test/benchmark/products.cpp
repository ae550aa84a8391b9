// Matrix products of GPT-2 124M at 1024 tokens (the vocabulary's in chunks of 256 rows) on one core:
// generated kernels and libraries in one run. What came out: docs/adr/0001-cpu-blas.md.
//
//   build/bin/products [LIBRARY]... [--benchmark_...]
//
// LIBRARY: path of a shared library with cblas_sgemm (OpenBLAS, BLIS, MKL) or dnnl_sgemm (oneDNN). It is
// loaded at run time, so that OPENBLAS_CORETYPE and the like act, and so that none resolves another's
// symbols. Rates are of CPU time. Where the machine is not idle, --benchmark_repetitions=5
// --benchmark_enable_random_interleaving=true spreads what disturbs over all.
#include "runtime/base/cpu_features.h"
#include "test/unit/codegen/kernel_harness.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>

using namespace trainc::codegen::testing;
using trainc::missingFeatures;

namespace {

struct Shape {
  const char *name;
  int64_t m, n, k;
  bool transposeA, transposeB;

  double flops() const { return 2.0 * double(m) * double(n) * double(k); }
};

constexpr int64_t kTokens = 1024, kWidth = 768, kVocabulary = 50257, kChunk = 256;
constexpr Shape kShapes[] = {
    {"qkv", kTokens, 3 * kWidth, kWidth, false, false},
    {"proj", kTokens, kWidth, kWidth, false, false},
    {"fc", kTokens, 4 * kWidth, kWidth, false, false},
    {"mlp_proj", kTokens, kWidth, 4 * kWidth, false, false},
    {"qkv_dx", kTokens, kWidth, 3 * kWidth, false, true},
    {"fc_dx", kTokens, kWidth, 4 * kWidth, false, true},
    {"mlp_proj_dx", kTokens, 4 * kWidth, kWidth, false, true},
    {"qkv_dw", kWidth, 3 * kWidth, kTokens, true, false},
    {"proj_dw", kWidth, kWidth, kTokens, true, false},
    {"fc_dw", kWidth, 4 * kWidth, kTokens, true, false},
    {"mlp_proj_dw", 4 * kWidth, kWidth, kTokens, true, false},
    {"logits", kChunk, kVocabulary, kWidth, false, true},
    {"logits_dx", kChunk, kWidth, kVocabulary, false, false},
    {"logits_dw", kVocabulary, kWidth, kChunk, true, false},
};

/// Code that the compiler makes for a product.
struct Code {
  const char *name, *level;
  std::vector<std::string_view> features;
  trainc::Fp32Products products;
};

const Code kCodes[] = {{"x86-64-v3", "x86-64-v3", {}, trainc::Fp32Products::Fma},
                       {"x86-64-v4", "x86-64-v4", {}, trainc::Fp32Products::Fma},
                       {"bf16x3", "x86-64-v4", {"amx_tile", "amx_bf16"}, trainc::Fp32Products::Bf16x3}};

void setRate(benchmark::State &state, const Shape &shape) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(shape.flops() * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

std::string matrix(int64_t rows, int64_t columns, bool transposed) {
  return transposed ? fmt::format("tensor<{}x{}xf32>", columns, rows)
                    : fmt::format("tensor<{}x{}xf32>", rows, columns);
}

std::string program(const Shape &shape) {
  const std::string a = matrix(shape.m, shape.k, shape.transposeA),
                    b = matrix(shape.k, shape.n, shape.transposeB), c = matrix(shape.m, shape.n, false);
  return fmt::format("func.func @f(%a: {0}, %b: {1}) -> {2} {{\n"
                     "  %c = nn.matmul %a {3}, %b {4} : {0}, {1}\n"
                     "  return %c : {2}\n"
                     "}}",
                     a, b, c, shape.transposeA ? "transposed" : "", shape.transposeB ? "transposed" : "");
}

void generated(benchmark::State &state, const Shape &shape, const Code &code) {
  if (!missingFeatures(code.level, code.features).empty())
    return state.SkipWithError("this CPU cannot run it");
  const CompiledOp op(program(shape), code.products);
  if (!op)
    return state.SkipWithError("does not compile");
  const CompiledOp::Execution execution = op.prepare(op.randomInputs(), code.level);
  execution.run(); // C's pages
  for ([[maybe_unused]] auto _ : state)
    execution.run();
  setRate(state, shape);
}

struct Library {
  using Cblas = void (*)(int order, int transposeA, int transposeB, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
  using Dnnl = int (*)(char transposeA, char transposeB, int64_t m, int64_t n, int64_t k, float alpha,
                       const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                       int64_t ldc);
  Cblas cblas = nullptr;
  Dnnl dnnl = nullptr;

  /// C = op(A) op(B).
  void multiply(const Shape &s, const float *a, const float *b, float *c) const {
    constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;
    const int64_t lda = s.transposeA ? s.m : s.k, ldb = s.transposeB ? s.k : s.n;
    if (dnnl)
      dnnl(s.transposeA ? 'T' : 'N', s.transposeB ? 'T' : 'N', s.m, s.n, s.k, 1, a, lda, b, ldb, 0, c, s.n);
    else
      cblas(kRowMajor, s.transposeA ? kTranspose : kNoTranspose, s.transposeB ? kTranspose : kNoTranspose,
            int(s.m), int(s.n), int(s.k), 1, a, int(lda), b, int(ldb), 0, c, int(s.n));
  }
};

std::vector<float> numbers(int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = float(i * 7919 % 2003) * 1e-3F - 1.0F;
  return values;
}

void called(benchmark::State &state, const Shape &shape, const Library &library) {
  const std::vector<float> a = numbers(shape.m * shape.k), b = numbers(shape.k * shape.n);
  std::vector<float> c(shape.m * shape.n);
  library.multiply(shape, a.data(), b.data(), c.data());
  for ([[maybe_unused]] auto _ : state)
    library.multiply(shape, a.data(), b.data(), c.data());
  setRate(state, shape);
}

bool addLibrary(const std::filesystem::path &path) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    fmt::print(stderr, "products: {}\n", dlerror());
    return false;
  }
  const Library library{reinterpret_cast<Library::Cblas>(dlsym(handle, "cblas_sgemm")),
                        reinterpret_cast<Library::Dnnl>(dlsym(handle, "dnnl_sgemm"))};
  if (!library.cblas && !library.dnnl) {
    fmt::print(stderr, "products: {} has neither cblas_sgemm nor dnnl_sgemm\n", path.string());
    return false;
  }
  const std::string file = path.filename();
  if (auto *core = reinterpret_cast<char *(*)()>(dlsym(handle, "openblas_get_corename")))
    benchmark::AddCustomContext(file, fmt::format("kernels for {}", core()));
  for (const Shape &shape : kShapes)
    benchmark::RegisterBenchmark(fmt::format("{}/{}", shape.name, file).c_str(), called, shape, library)
        ->Unit(benchmark::kMillisecond);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  for (const char *library : {"OPENBLAS", "BLIS", "MKL", "OMP"})
    setenv(fmt::format("{}_NUM_THREADS", library).c_str(), "1", /*overwrite=*/1);
  benchmark::Initialize(&argc, argv);
  for (const Shape &shape : kShapes)
    for (const Code &code : kCodes)
      benchmark::RegisterBenchmark(fmt::format("{}/{}", shape.name, code.name).c_str(), generated, shape,
                                   code)
          ->Unit(benchmark::kMillisecond);
  for (int i = 1; i < argc; ++i)
    if (!addLibrary(argv[i]))
      return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
