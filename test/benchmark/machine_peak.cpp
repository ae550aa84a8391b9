// Peak rates of this machine, the roofline of compare.py: FLOP/s of fused multiply-adds in registers,
// likewise for bf16 products, and bytes per second that copies of large buffers read and write.
//
//   machine_peak THREADS     prints one JSON object
#include "base/clock.h"
#include "runtime/device/cpu/thread_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <immintrin.h>
#include <vector>

using trainc::steadySeconds;
using trainc::ThreadPool;

namespace {

constexpr int kChains = 12; // independent sums: more than an FMA takes cycles times two units
constexpr int kRounds = 1 << 22;
constexpr int kRepetitions = 5; // the best one counts
constexpr uint64_t kCopyBytes = uint64_t{256} << 20;

template <int kLanes> using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));

/// kRounds x kChains fused multiply-adds of vectors; returns something that depends on all.
template <int kLanes> [[gnu::always_inline]] inline float multiplyAdd() {
  Vector<kLanes> sums[kChains] = {};
  const Vector<kLanes> x = Vector<kLanes>{} + 0.999F, y = Vector<kLanes>{} + 0.001F;
  for (int round = 0; round < kRounds; ++round)
    for (Vector<kLanes> &sum : sums)
      sum = __builtin_elementwise_fma(sum, x, y);
  float total = 0;
  for (const Vector<kLanes> &sum : sums)
    for (int i = 0; i < kLanes; ++i)
      total += sum[i];
  return total;
}

[[gnu::target("avx512f,fma"), gnu::noinline]] float multiplyAdd512() { return multiplyAdd<16>(); }
[[gnu::target("avx2,fma"), gnu::noinline]] float multiplyAdd256() { return multiplyAdd<8>(); }

/// As many instructions that add pairs of products of bf16 numbers to f32 sums.
[[gnu::target("avx512f,avx512bf16"), gnu::noinline]] float addPairs512() {
  __m512 sums[kChains] = {};
  const __m512 numbers = _mm512_set1_ps(0.001F);
  const __m512bh pairs = _mm512_cvtne2ps_pbh(numbers, numbers);
  for (int round = 0; round < kRounds; ++round)
    for (__m512 &sum : sums)
      sum = _mm512_dpbf16_ps(sum, pairs, pairs);
  __m512 total = _mm512_setzero_ps();
  for (const __m512 &sum : sums)
    total = _mm512_add_ps(total, sum);
  return _mm512_reduce_add_ps(total);
}

/// Minimum time of `work(thread)` on all threads at once, over several runs.
template <typename Work> double bestSeconds(ThreadPool &pool, const Work &work) {
  double best = 1e9;
  for (int i = 0; i < kRepetitions; ++i) {
    const double begin = steadySeconds();
    pool.run(pool.threads(), 1, [&](uint64_t first, uint64_t last) {
      for (uint64_t thread = first; thread < last; ++thread)
        work(thread);
    });
    best = std::min(best, steadySeconds() - begin);
  }
  return best;
}

/// A kernel of kRounds x kChains instructions, each of so many products and as many sums.
struct Kernel {
  const char *instructions;
  float (*run)();
  int products;
};

/// Null for a CPU with neither.
const Kernel *multiplyAddKernel() {
  static constexpr Kernel avx512{"AVX-512", multiplyAdd512, 16}, avx2{"AVX2", multiplyAdd256, 8};
  if (__builtin_cpu_supports("avx512f"))
    return &avx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2 : nullptr;
}

/// The kernel for bf16 products: f32 multiply-adds if there is no instruction for them.
const Kernel *bf16Kernel() {
  static constexpr Kernel pairs{"AVX512-BF16", addPairs512, 32};
  return __builtin_cpu_supports("avx512bf16") ? &pairs : multiplyAddKernel();
}

double peakFlops(ThreadPool &pool, const Kernel &kernel) {
  volatile float sink = 0;
  const double seconds = bestSeconds(pool, [&](uint64_t) { sink = kernel.run(); });
  return 2.0 * kRounds * kChains * kernel.products * pool.threads() / seconds;
}

double copyBandwidth(ThreadPool &pool) {
  std::vector<char> from(kCopyBytes, 1), to(kCopyBytes, 2);
  const uint64_t part = kCopyBytes / pool.threads();
  const double seconds = bestSeconds(
      pool, [&](uint64_t thread) { std::memcpy(&to[thread * part], &from[thread * part], part); });
  return 2.0 * static_cast<double>(part * pool.threads()) / seconds;
}

} // namespace

int main(int argc, char **argv) {
  const int threads = argc == 2 ? std::atoi(argv[1]) : 0;
  const Kernel *kernel = multiplyAddKernel(), *ofBf16 = bf16Kernel();
  if (threads < 1 || !kernel) {
    fmt::print(stderr, "usage: machine_peak THREADS, on a CPU with AVX2 or AVX-512\n");
    return 2;
  }
  ThreadPool pool(static_cast<unsigned>(threads));
  fmt::print("{{\"threads\": {}, \"instructions\": \"{}\", \"flop_per_second\": {:.4g}, "
             "\"bf16_instructions\": \"{}\", \"bf16_flop_per_second\": {:.4g}, "
             "\"copy_bytes_per_second\": {:.4g}}}\n",
             threads, kernel->instructions, peakFlops(pool, *kernel), ofBf16->instructions,
             peakFlops(pool, *ofBf16), copyBandwidth(pool));
  return 0;
}
