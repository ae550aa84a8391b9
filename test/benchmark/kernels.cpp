// Speed of generated kernels on one thread: GB/s of the bytes that must move, GFLOP/s of attention.
//
//   build/bin/kernels --benchmark_filter=...
#include "test/unit/codegen/kernel_harness.h"

#include <benchmark/benchmark.h>
#include <cstring>

using namespace trainc::codegen;
using namespace trainc::codegen::harness;

namespace {

/// Bytes that a launch must read and write, as its parameters say.
int64_t bytesMoved(const CompiledOp &op) {
  int64_t bytes = 0;
  for (const LaunchSummary &launch : op.kernels().launches)
    for (const KernelParam &param : launch.params)
      bytes += param.bytes * (param.access == trainc::plan::Access::read_write ? 2 : 1);
  return bytes;
}

/// A kernel's text with bf16 in place of f32, but for the log-sum-exp of attention.
std::string inBf16(std::string text) {
  for (size_t at = 0; (at = text.find("xf32", at)) != std::string::npos; ++at)
    if (!llvm::StringRef(text).take_front(at).ends_with("4x12x256"))
      text.replace(at, 4, "xbf16");
  return text;
}

void run(benchmark::State &state, const std::string &text, const char *level, bool inPlace) {
  CompiledOp op(text);
  if (!op)
    return state.SkipWithError("does not compile");
  if (!CompiledOp::levelRunsHere(level))
    return state.SkipWithError("this CPU lacks the level");
  CompiledOp::Execution execution =
      op.prepare(op.randomInputs(100), level,
                 inPlace ? op.kernels().mayAlias : llvm::ArrayRef<std::pair<unsigned, unsigned>>());
  for ([[maybe_unused]] auto _ : state)
    execution.run();
  int64_t flops = 0;
  for (const LaunchSummary &launch : op.kernels().launches)
    flops += launch.flops;
  if (flops > 0)
    state.counters["FLOP"] = benchmark::Counter(double(flops), benchmark::Counter::kIsIterationInvariantRate);
  else
    state.SetBytesProcessed(bytesMoved(op) * state.iterations());
}

/// Upper bound of the machine: one core copies 64 MiB.
void copy(benchmark::State &state) {
  const int64_t bytes = 64 << 20;
  Buffer from(bytes), to(bytes);
  for ([[maybe_unused]] auto _ : state) {
    memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(2 * bytes * state.iterations());
}

void add(const char *name, const std::string &text, bool inPlace = false) {
  for (const char *level : {"x86-64-v3", "x86-64-v4"})
    benchmark::RegisterBenchmark((std::string(name) + "/" + level).c_str(), run, text, level, inPlace)
        ->Unit(benchmark::kMillisecond);
}

const char *kAdamW =
    R"(func.func @f(%p: tensor<16000000xf32>, %m: tensor<16000000xf32>, %v: tensor<16000000xf32>, %g: tensor<16000000xf32>, %lr: tensor<f32>, %ok: tensor<i1>) -> (tensor<16000000xf32>, tensor<16000000xf32>, tensor<16000000xf32>) {
  %b1 = nn.constant 0.9 : tensor<16000000xf32>
  %c1 = nn.constant 0.1 : tensor<16000000xf32>
  %b2 = nn.constant 0.95 : tensor<16000000xf32>
  %c2 = nn.constant 0.05 : tensor<16000000xf32>
  %eps = nn.constant 1.0e-8 : tensor<16000000xf32>
  %m0 = nn.mul %m, %b1 : tensor<16000000xf32>, tensor<16000000xf32>
  %g0 = nn.mul %g, %c1 : tensor<16000000xf32>, tensor<16000000xf32>
  %m1 = nn.add %m0, %g0 : tensor<16000000xf32>, tensor<16000000xf32>
  %g2 = nn.square %g : tensor<16000000xf32>
  %v0 = nn.mul %v, %b2 : tensor<16000000xf32>, tensor<16000000xf32>
  %g3 = nn.mul %g2, %c2 : tensor<16000000xf32>, tensor<16000000xf32>
  %v1 = nn.add %v0, %g3 : tensor<16000000xf32>, tensor<16000000xf32>
  %s = nn.sqrt %v1 : tensor<16000000xf32>
  %se = nn.add %s, %eps : tensor<16000000xf32>, tensor<16000000xf32>
  %q = nn.div %m1, %se : tensor<16000000xf32>, tensor<16000000xf32>
  %l = nn.broadcast %lr to [16000000] : tensor<f32>
  %u = nn.mul %q, %l : tensor<16000000xf32>, tensor<16000000xf32>
  %p1 = nn.sub %p, %u : tensor<16000000xf32>, tensor<16000000xf32>
  %k = nn.broadcast %ok to [16000000] : tensor<i1>
  %p2 = nn.select %k, %p1, %p : tensor<16000000xi1>, tensor<16000000xf32>, tensor<16000000xf32>
  %m2 = nn.select %k, %m1, %m : tensor<16000000xi1>, tensor<16000000xf32>, tensor<16000000xf32>
  %v2 = nn.select %k, %v1, %v : tensor<16000000xi1>, tensor<16000000xf32>, tensor<16000000xf32>
  return %p2, %m2, %v2 : tensor<16000000xf32>, tensor<16000000xf32>, tensor<16000000xf32> })";

const char *kLayerNorm =
    R"(func.func @f(%x: tensor<4096x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>) -> (tensor<4096x768xf32>, tensor<4096xf32>) {
  %m = nn.reduce mean %x over [1] keep : tensor<4096x768xf32>
  %mb = nn.broadcast %m to [4096, 768] : tensor<4096x1xf32>
  %c = nn.sub %x, %mb : tensor<4096x768xf32>, tensor<4096x768xf32>
  %q = nn.square %c : tensor<4096x768xf32>
  %v = nn.reduce mean %q over [1] : tensor<4096x768xf32>
  %s = nn.rsqrt %v : tensor<4096xf32>
  %s1 = nn.reshape %s to [4096, 1] : tensor<4096xf32>
  %sb = nn.broadcast %s1 to [4096, 768] : tensor<4096x1xf32>
  %n = nn.mul %c, %sb : tensor<4096x768xf32>, tensor<4096x768xf32>
  %gb = nn.broadcast %g to [4096, 768] : tensor<768xf32>
  %bb = nn.broadcast %b to [4096, 768] : tensor<768xf32>
  %o = nn.mul %n, %gb : tensor<4096x768xf32>, tensor<4096x768xf32>
  %r = nn.add %o, %bb : tensor<4096x768xf32>, tensor<4096x768xf32>
  return %r, %s : tensor<4096x768xf32>, tensor<4096xf32> })";

const char *kBiasGelu =
    R"(func.func @f(%x: tensor<4096x3072xf32>, %b: tensor<3072xf32>) -> tensor<4096x3072xf32> {
  %bb = nn.broadcast %b to [4096, 3072] : tensor<3072xf32>
  %y = nn.add %x, %bb : tensor<4096x3072xf32>, tensor<4096x3072xf32>
  %r = nn.gelu %y approximate tanh : tensor<4096x3072xf32>
  return %r : tensor<4096x3072xf32> })";

const char *kBiasGeluOfBf16 =
    R"(func.func @f(%x: tensor<4096x3072xbf16>, %b: tensor<3072xf32>) -> tensor<4096x3072xbf16> {
  %w = nn.convert %x to f32 : tensor<4096x3072xbf16>
  %bb = nn.broadcast %b to [4096, 3072] : tensor<3072xf32>
  %y = nn.add %w, %bb : tensor<4096x3072xf32>, tensor<4096x3072xf32>
  %g = nn.gelu %y approximate tanh : tensor<4096x3072xf32>
  %r = nn.convert %g to bf16 : tensor<4096x3072xf32>
  return %r : tensor<4096x3072xbf16> })";

const char *kRounding = R"(func.func @f(%x: tensor<4096x3072xf32>) -> tensor<4096x3072xbf16> {
  %r = nn.convert %x to bf16 : tensor<4096x3072xf32>
  return %r : tensor<4096x3072xbf16> })";

/// From the scores %x and the labels %l: the scores' gradient %g and the log-sum-exp %lse.
const std::string kCrossEntropyBody = R"(
  %m = nn.reduce max %x over [1] keep : tensor<512x50257xf32>
  %mb = nn.broadcast %m to [512, 50257] : tensor<512x1xf32>
  %c = nn.sub %x, %mb : tensor<512x50257xf32>, tensor<512x50257xf32>
  %e = nn.exp %c : tensor<512x50257xf32>
  %s = nn.reduce sum %e over [1] keep : tensor<512x50257xf32>
  %r = nn.reciprocal %s : tensor<512x1xf32>
  %rb = nn.broadcast %r to [512, 50257] : tensor<512x1xf32>
  %p = nn.mul %e, %rb : tensor<512x50257xf32>, tensor<512x50257xf32>
  %i = nn.iota 1 : tensor<512x50257xi32>
  %l1 = nn.reshape %l to [512, 1] : tensor<512xi32>
  %lb = nn.broadcast %l1 to [512, 50257] : tensor<512x1xi32>
  %h = nn.compare eq %i, %lb : tensor<512x50257xi32>, tensor<512x50257xi32>
  %one = nn.constant 1.0 : tensor<512x50257xf32>
  %z = nn.constant 0.0 : tensor<512x50257xf32>
  %t = nn.select %h, %one, %z : tensor<512x50257xi1>, tensor<512x50257xf32>, tensor<512x50257xf32>
  %g = nn.sub %p, %t : tensor<512x50257xf32>, tensor<512x50257xf32>
  %lg = nn.log %s : tensor<512x1xf32>
  %lse = nn.add %lg, %m : tensor<512x1xf32>, tensor<512x1xf32>)";

const std::string kCrossEntropy =
    R"(func.func @f(%x: tensor<512x50257xf32>, %l: tensor<512xi32>) -> (tensor<512x50257xf32>, tensor<512x1xf32>) {)" +
    kCrossEntropyBody + R"(
  return %g, %lse : tensor<512x50257xf32>, tensor<512x1xf32> })";

const std::string kCrossEntropyOfBf16 =
    R"(func.func @f(%short: tensor<512x50257xbf16>, %l: tensor<512xi32>) -> (tensor<512x50257xbf16>, tensor<512x1xf32>) {
  %x = nn.convert %short to f32 : tensor<512x50257xbf16>)" +
    kCrossEntropyBody + R"(
  %d = nn.convert %g to bf16 : tensor<512x50257xf32>
  return %d, %lse : tensor<512x50257xbf16>, tensor<512x1xf32> })";

const char *kColumnSum = R"(func.func @f(%x: tensor<4096x3072xf32>) -> tensor<3072xf32> {
  %s = nn.reduce sum %x over [0] : tensor<4096x3072xf32>
  return %s : tensor<3072xf32> })";

const char *kSumOfSquares = R"(func.func @f(%x: tensor<16000000xf32>) -> tensor<f32> {
  %q = nn.square %x : tensor<16000000xf32>
  %s = nn.reduce sum %q over [0] : tensor<16000000xf32>
  return %s : tensor<f32> })";

const char *kTranspose = R"(func.func @f(%x: tensor<3072x3072xf32>) -> tensor<3072x3072xf32> {
  %s = nn.transpose %x by [1, 0] : tensor<3072x3072xf32>
  return %s : tensor<3072x3072xf32> })";

const char *kScatter =
    R"(func.func @f(%t: tensor<5000x768xf32>, %i: tensor<4096xi32>, %u: tensor<4096x768xf32>) -> tensor<5000x768xf32> {
  %0 = nn.scatter_add %u into %t at %i : tensor<4096x768xf32>, tensor<5000x768xf32>, tensor<4096xi32>
  return %0 : tensor<5000x768xf32> })";

const char *kAttention =
    R"(func.func @f(%q: tensor<4x256x768xf32>, %k: tensor<4x256x768xf32>, %v: tensor<4x256x768xf32>) -> (tensor<4x256x768xf32>, tensor<4x12x256xf32>) {
  %o:2 = nn.attention %q, %k, %v heads 12 causal : tensor<4x256x768xf32>, tensor<4x256x768xf32>, tensor<4x256x768xf32>
  return %o#0, %o#1 : tensor<4x256x768xf32>, tensor<4x12x256xf32> })";

const char *kAttentionGrad =
    R"(func.func @f(%q: tensor<4x256x768xf32>, %k: tensor<4x256x768xf32>, %v: tensor<4x256x768xf32>, %o: tensor<4x256x768xf32>, %l: tensor<4x12x256xf32>, %d: tensor<4x256x768xf32>) -> (tensor<4x256x768xf32>, tensor<4x256x768xf32>, tensor<4x256x768xf32>) {
  %g:3 = nn.attention_grad %q, %k, %v, %o, %l, %d heads 12 kv_heads 12 causal scale 0.125 : tensor<4x256x768xf32>, tensor<4x256x768xf32>, tensor<4x256x768xf32>, tensor<4x256x768xf32>, tensor<4x12x256xf32>, tensor<4x256x768xf32>
  return %g#0, %g#1, %g#2 : tensor<4x256x768xf32>, tensor<4x256x768xf32>, tensor<4x256x768xf32> })";

/// Rows of so few columns that the last, incomplete vector of each counts.
std::string shortRows(int64_t columns) {
  const std::string width = std::to_string(columns), row = "tensor<" + width + "xf32>",
                    x = "tensor<4096x" + width + "xf32>";
  return "func.func @f(%x: " + x + ", %scale: " + row + ") -> " + x +
         " {\n  %all = nn.broadcast %scale to [4096, " + width + "] : " + row +
         "\n  %r = nn.mul %x, %all : " + x + ", " + x + "\n  return %r : " + x + "\n}";
}

} // namespace

int main(int argc, char **argv) {
  benchmark::RegisterBenchmark("memcpy_64MiB", copy)->Unit(benchmark::kMillisecond);
  add("adamw_16M_in_place", kAdamW, /*inPlace=*/true);
  add("layer_norm_4096x768", kLayerNorm);
  add("bias_gelu_4096x3072", kBiasGelu);
  add("bias_gelu_4096x3072_of_bf16", kBiasGeluOfBf16);
  add("rounding_to_bf16_4096x3072", kRounding);
  for (int64_t columns : {3, 64, 67, 79}) {
    const std::string name = "short_rows_4096x" + std::to_string(columns);
    add(name.c_str(), shortRows(columns));
    add((name + "_bf16").c_str(), inBf16(shortRows(columns)));
  }
  add("cross_entropy_512x50257_in_place", kCrossEntropy, /*inPlace=*/true);
  add("cross_entropy_512x50257_of_bf16_in_place", kCrossEntropyOfBf16, /*inPlace=*/true);
  add("column_sum_4096x3072", kColumnSum);
  add("column_sum_4096x3072_of_bf16", inBf16(kColumnSum));
  add("sum_of_squares_16M", kSumOfSquares);
  add("transpose_3072x3072", kTranspose);
  add("transpose_3072x3072_of_bf16", inBf16(kTranspose));
  add("scatter_add_4096x768", kScatter);
  add("attention_4x256x12x64_causal", kAttention);
  add("attention_4x256x12x64_causal_of_bf16", inBf16(kAttention));
  add("attention_grad_4x256x12x64_causal", kAttentionGrad);
  add("attention_grad_4x256x12x64_causal_of_bf16", inBf16(kAttentionGrad));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
