// Matrix products of GPT-2 124M and SmolLM2-135M at 1024 tokens (the vocabulary's in chunks of 256 rows) on
// one core: generated kernels and libraries in one run. Results: docs/adr/0001-cpu-blas.md.
//
//   build/bin/products [--element=f32|bf16|f16] [--to-f32] [LIBRARY]... [--benchmark_...]
//
// --element is the type of the factors, f32 by default. Products of bf16 and f16 numbers are rounded to that
// type unless --to-f32 is given (docs/adr/0018-bf16-products.md).
// LIBRARY is the path of a shared library with cblas_sgemm (OpenBLAS, BLIS, MKL) or dnnl_sgemm (oneDNN),
// whose f32 products are measured as well. It is loaded at run time, so that OPENBLAS_CORETYPE and similar
// variables work, and so that no library resolves another's symbols. Rates are per CPU time. On a busy
// machine, --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true spreads disturbances over
// all rows.
#include "base/cpu_features.h"
#include "test/unit/codegen/low_numbers.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <time.h>

using namespace trainc::codegen::harness;
using trainc::missingFeatures;

namespace {

struct Shape {
  const char *name;
  int64_t m, n, k;
  bool transposeA, transposeB;

  double flops() const { return 2.0 * double(m) * double(n) * double(k); }
};

constexpr int64_t kTokens = 1024, kWidth = 768, kVocabulary = 50257, kChunk = 256;
constexpr int64_t kSmolWidth = 576, kSmolKeys = 192, kSmolMlp = 1536, kSmolVocabulary = 49152;
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
    {"wide", kTokens, kTokens, 4 * kTokens, false, true},
    {"smol_gate", kTokens, kSmolMlp, kSmolWidth, false, true},
    {"smol_q", kTokens, kSmolWidth, kSmolWidth, false, true},
    {"smol_k", kTokens, kSmolKeys, kSmolWidth, false, true},
    {"smol_down", kTokens, kSmolWidth, kSmolMlp, false, true},
    {"smol_gate_dx", kTokens, kSmolWidth, kSmolMlp, false, false},
    {"smol_q_dx", kTokens, kSmolWidth, kSmolWidth, false, false},
    {"smol_down_dx", kTokens, kSmolMlp, kSmolWidth, false, false},
    {"smol_gate_dw", kSmolMlp, kSmolWidth, kTokens, true, false},
    {"smol_q_dw", kSmolWidth, kSmolWidth, kTokens, true, false},
    {"smol_k_dw", kSmolKeys, kSmolWidth, kTokens, true, false},
    {"smol_logits", kChunk, kSmolVocabulary, kSmolWidth, false, true},
    {"smol_logits_dx", kChunk, kSmolWidth, kSmolVocabulary, false, false},
    {"smol_logits_dw", kSmolVocabulary, kSmolWidth, kChunk, true, false},
};

/// Code that the compiler makes for a product.
struct Code {
  const char *name, *level;
  std::vector<std::string_view> features;
  trainc::Fp32Products products;
};

const Code kCodes[] = {
    {"x86-64-v3", "x86-64-v3", {}, trainc::Fp32Products::Fma},
    {"x86-64-v4", "x86-64-v4", {}, trainc::Fp32Products::Fma},
    {"x86-64-v4-bf16", "x86-64-v4-bf16", {"avx512_bf16"}, trainc::Fp32Products::Fma},
    {"x86-64-v4-amx", "x86-64-v4-amx", {"amx_tile", "amx_bf16"}, trainc::Fp32Products::Fma},
    {"bf16x3", "x86-64-v4", {"amx_tile", "amx_bf16"}, trainc::Fp32Products::Bf16x3}};

/// CPU time of this thread, in seconds.
double cpuTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// The rate of all runs together, and that of the best, which a busy machine disturbs least.
template <typename Run> void measure(benchmark::State &state, const Shape &shape, Run run) {
  double best = HUGE_VAL;
  for ([[maybe_unused]] auto _ : state) {
    const double start = cpuTime();
    run();
    best = std::min(best, cpuTime() - start);
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(shape.flops() * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["best"] = shape.flops() * 1e-9 / best;
}

/// The element types of products.
struct Elements {
  std::string factor = "f32", result = "f32";

  bool isRounded() const { return factor != result; }
};

std::string matrix(int64_t rows, int64_t columns, bool transposed, const std::string &element) {
  return transposed ? fmt::format("tensor<{}x{}x{}>", columns, rows, element)
                    : fmt::format("tensor<{}x{}x{}>", rows, columns, element);
}

std::string program(const Shape &shape, const Elements &elements) {
  const std::string a = matrix(shape.m, shape.k, shape.transposeA, elements.factor),
                    b = matrix(shape.k, shape.n, shape.transposeB, elements.factor),
                    c = matrix(shape.m, shape.n, false, elements.result);
  return fmt::format("func.func @f(%a: {0}, %b: {1}) -> {2} {{\n"
                     "  %c = nn.matmul %a {3}, %b {4} {5} : {0}, {1}\n"
                     "  return %c : {2}\n"
                     "}}",
                     a, b, c, shape.transposeA ? "transposed" : "", shape.transposeB ? "transposed" : "",
                     elements.isRounded() ? "to f32" : "");
}

std::vector<float> numbers(int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = float(i * 7919 % 2003) * 1e-3F - 1.0F;
  return values;
}

/// Random numbers, the first few again and again.
Buffer operand(int64_t count, const std::string &element) {
  if (element == "f32")
    return f32Buffer(numbers(count));
  constexpr int64_t kDrawn = 1 << 16;
  const Low low = element == "bf16" ? Low::Bf16 : Low::F16;
  const Buffer drawn = lowBuffer(randomNumbers(kDrawn, low, 1), low);
  Buffer buffer(count * int64_t(sizeof(uint16_t)));
  for (int64_t at = 0; at < buffer.size(); at += drawn.size())
    std::memcpy(static_cast<char *>(buffer.data()) + at, drawn.data(),
                std::min(drawn.size(), buffer.size() - at));
  return buffer;
}

void generated(benchmark::State &state, const Shape &shape, const Code &code, const Elements &elements) {
  if (!missingFeatures(code.level, code.features).empty())
    return state.SkipWithError("this CPU cannot run it");
  const CompiledOp op(program(shape, elements), code.products);
  if (!op)
    return state.SkipWithError("does not compile");
  if (!llvm::is_contained(op.levels(), code.level))
    return state.SkipWithError("the level has no other code for it");
  std::vector<Buffer> operands;
  operands.push_back(operand(shape.m * shape.k, elements.factor));
  operands.push_back(operand(shape.k * shape.n, elements.factor));
  const CompiledOp::Execution execution = op.prepare(std::move(operands), code.level);
  execution.run(); // C's pages
  measure(state, shape, [&] { execution.run(); });
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

void called(benchmark::State &state, const Shape &shape, const Library &library) {
  const std::vector<float> a = numbers(shape.m * shape.k), b = numbers(shape.k * shape.n);
  std::vector<float> c(shape.m * shape.n);
  library.multiply(shape, a.data(), b.data(), c.data());
  measure(state, shape, [&] { library.multiply(shape, a.data(), b.data(), c.data()); });
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

/// Takes the options of this program's own out of the arguments.
Elements takeElements(int &argc, char **argv) {
  Elements elements;
  bool toF32 = false;
  int kept = 1;
  for (int i = 1; i < argc; ++i)
    if (const std::string_view arg = argv[i]; arg.starts_with("--element="))
      elements.factor = arg.substr(strlen("--element="));
    else if (arg == "--to-f32")
      toF32 = true;
    else
      argv[kept++] = argv[i];
  argc = kept;
  elements.result = toF32 ? "f32" : elements.factor;
  return elements;
}

} // namespace

int main(int argc, char **argv) {
  for (const char *library : {"OPENBLAS", "BLIS", "MKL", "OMP"})
    setenv(fmt::format("{}_NUM_THREADS", library).c_str(), "1", /*overwrite=*/1);
  benchmark::Initialize(&argc, argv);
  const Elements elements = takeElements(argc, argv);
  for (const Shape &shape : kShapes)
    for (const Code &code : kCodes)
      benchmark::RegisterBenchmark(fmt::format("{}/{}", shape.name, code.name).c_str(), generated, shape,
                                   code, elements)
          ->Unit(benchmark::kMillisecond);
  for (int i = 1; i < argc; ++i)
    if (!addLibrary(argv[i]))
      return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
