// What this machine can do at most, the roofline of compare.py: FLOP/s of fused multiply-adds that stay in
// registers, and bytes that copies of large buffers read and write per second.
//
//   machine_peak THREADS     prints one JSON object
#include "runtime/base/clock.h"
#include "runtime/device/cpu/thread_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
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

/// The least seconds that `work(thread)` takes on all threads at once.
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

double peakFlops(ThreadPool &pool, bool avx512) {
  volatile float sink = 0;
  const double seconds =
      bestSeconds(pool, [&](uint64_t) { sink = avx512 ? multiplyAdd512() : multiplyAdd256(); });
  return 2.0 * kRounds * kChains * (avx512 ? 16 : 8) * pool.threads() / seconds;
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
  const bool avx512 = __builtin_cpu_supports("avx512f");
  if (threads < 1 || !(avx512 || __builtin_cpu_supports("avx2"))) {
    fmt::print(stderr, "usage: machine_peak THREADS, on a CPU with AVX2 or AVX-512\n");
    return 2;
  }
  ThreadPool pool(static_cast<unsigned>(threads));
  fmt::print("{{\"threads\": {}, \"instructions\": \"{}\", \"flop_per_second\": {:.4g}, "
             "\"copy_bytes_per_second\": {:.4g}}}\n",
             threads, avx512 ? "AVX-512" : "AVX2", peakFlops(pool, avx512), copyBandwidth(pool));
  return 0;
}
