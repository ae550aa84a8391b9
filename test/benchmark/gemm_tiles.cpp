// Which BLAS, and which tiles of C: GPT-2 124M's matrix products at 1024 tokens, computed tile by tile on our
// threads. Results and the choice: docs/adr/0001-cpu-blas.md.
//
//   gemm_tiles LIBRARY THREADS [benchmark options]    LIBRARY: openblas, blis or dnnl, or a path to the .so
//   of one
//
// With one thread the rates are of CPU time, so that they can be compared on a machine that is not idle.
//
// The library is loaded at run time, so that OPENBLAS_CORETYPE, BLIS_ARCH_TYPE and the like act, and so that
// one library does not resolve the other's symbols.
#include "runtime/device/cpu/thread_pool.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <string>
#include <vector>

using trainc::ThreadPool;

namespace {

using CblasSgemm = void (*)(int order, int transposeA, int transposeB, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
using DnnlSgemm = int (*)(char transposeA, char transposeB, int64_t m, int64_t n, int64_t k, float alpha,
                          const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                          int64_t ldc);

CblasSgemm cblasSgemm = nullptr;
DnnlSgemm dnnlSgemm = nullptr;

struct Shape {
  const char *name;
  int64_t m, n, k;
  bool transposeA, transposeB;
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

struct Product {
  Shape shape;
  std::vector<float> a, b, c;

  explicit Product(const Shape &shape) : shape(shape) {
    const auto fill = [](std::vector<float> &values, int64_t size) {
      values.resize(static_cast<size_t>(size));
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i * 7919 % 2003) * 1e-3f - 1.0f;
    };
    fill(a, shape.m * shape.k);
    fill(b, shape.k * shape.n);
    c.assign(static_cast<size_t>(shape.m * shape.n), 0.0f);
  }

  void tile(int64_t row, int64_t column, int64_t rows, int64_t columns) {
    const int64_t lda = shape.transposeA ? shape.m : shape.k, ldb = shape.transposeB ? shape.k : shape.n;
    const float *from = a.data() + (shape.transposeA ? row : row * lda);
    const float *with = b.data() + (shape.transposeB ? column * ldb : column);
    float *to = c.data() + row * shape.n + column;
    const auto i32 = [](int64_t value) { return static_cast<int>(value); };
    if (dnnlSgemm)
      dnnlSgemm(shape.transposeA ? 'T' : 'N', shape.transposeB ? 'T' : 'N', rows, columns, shape.k, 1.0f,
                from, lda, with, ldb, 0.0f, to, shape.n);
    else
      cblasSgemm(101, shape.transposeA ? 112 : 111, shape.transposeB ? 112 : 111, i32(rows), i32(columns),
                 i32(shape.k), 1.0f, from, i32(lda), with, i32(ldb), 0.0f, to, i32(shape.n));
  }

  void run(ThreadPool &pool, int64_t tileM, int64_t tileN) {
    const int64_t down = (shape.m - 1) / tileM + 1, across = (shape.n - 1) / tileN + 1;
    pool.run(static_cast<uint64_t>(down * across), 1, [&](uint64_t begin, uint64_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t row = i % down * tileM, column = i / down * tileN;
        tile(row, column, std::min(tileM, shape.m - row), std::min(tileN, shape.n - column));
      }
    });
  }
};

void product(benchmark::State &state, const Shape &shape, int64_t tileM, int64_t tileN, unsigned threads) {
  ThreadPool pool(threads);
  Product product(shape);
  product.run(pool, tileM, tileN);
  for (auto _ : state)
    product.run(pool, tileM, tileN);
  const double flops =
      2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  state.counters["GFLOP/s"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

int64_t half(int64_t size) { return (size / 2 + 15) / 16 * 16; }

void registerShape(const Shape &shape, unsigned threads) {
  std::vector<std::pair<int64_t, int64_t>> tiles = {{half(shape.m), shape.n}, {shape.m, half(shape.n)}};
  for (const int64_t size : {256, 384, 512, 768, 1024})
    tiles.emplace_back(std::min(size, shape.m), std::min(size, shape.n));
  tiles.emplace_back(std::min<int64_t>(256, shape.m), shape.n);
  tiles.emplace_back(shape.m, std::min<int64_t>(256, shape.n));
  for (const int64_t columns : {2048, 4096, 12576})
    if (shape.n > 4 * columns)
      tiles.emplace_back(shape.m, columns);
  for (const int64_t rows : {2048, 4096, 12576})
    if (shape.m > 4 * rows)
      tiles.emplace_back(rows, shape.n);
  std::ranges::sort(tiles);
  tiles.erase(std::ranges::unique(tiles).begin(), tiles.end());
  for (const auto &[tileM, tileN] : tiles) {
    auto *added = benchmark::RegisterBenchmark(fmt::format("{}/{}x{}", shape.name, tileM, tileN).c_str(),
                                               product, shape, tileM, tileN, threads);
    added->Unit(benchmark::kMillisecond);
    if (threads > 1)
      added->UseRealTime();
  }
}

bool loadLibrary(std::string name) {
  if (name == "openblas")
    name = "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0";
  else if (name == "blis")
    name = "/usr/lib/x86_64-linux-gnu/blis-serial/libblis.so";
  else if (name == "dnnl")
    name = "libdnnl.so";
  setenv("OMP_NUM_THREADS", "1", 1);
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fmt::print(stderr, "gemm_tiles: cannot load {}: {}\n", name, dlerror());
    return false;
  }
  dnnlSgemm = reinterpret_cast<DnnlSgemm>(dlsym(library, "dnnl_sgemm"));
  cblasSgemm = reinterpret_cast<CblasSgemm>(dlsym(library, "cblas_sgemm"));
  if (auto *core = reinterpret_cast<char *(*)()>(dlsym(library, "openblas_get_corename")))
    benchmark::AddCustomContext("kernels", core());
  return dnnlSgemm || cblasSgemm;
}

} // namespace

int main(int argc, char **argv) {
  const auto threads = argc < 3 ? 0 : static_cast<int>(std::strtol(argv[2], nullptr, 10));
  if (threads < 1 || !loadLibrary(argv[1])) {
    fmt::print(stderr, "usage: gemm_tiles openblas|blis|dnnl|PATH THREADS [--benchmark_...]\n");
    return 2;
  }
  argv[2] = argv[0];
  int rest = argc - 2;
  benchmark::Initialize(&rest, argv + 2);
  for (const Shape &shape : kShapes)
    registerShape(shape, static_cast<unsigned>(threads));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
