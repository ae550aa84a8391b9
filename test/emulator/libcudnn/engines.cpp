#include "test/emulator/libcudnn/engines.h"

#include <algorithm>

namespace trainc::emulator {

namespace {

constexpr int64_t kForwardBytes = 16 << 10;
constexpr int64_t kTooMuch = int64_t{1} << 40;
/// The engine with deterministic gradients on GPUs of capability 10.
constexpr int64_t kTwoPassEngine = 5;
constexpr Knob kTwoPassKnobs[] = {{CUDNN_KNOB_TYPE_KERNEL_CFG, 31}, {CUDNN_KNOB_TYPE_STAGES, 2}};
/// Version from which on the knobs have other names.
constexpr int kRenamed = 92300;
constexpr Knob kRenamedKnobs[] = {{CUDNN_KNOB_TYPE_TILE_M, 3},     {CUDNN_KNOB_TYPE_TILE_N, 2},
                                  {CUDNN_KNOB_TYPE_KERNEL_CFG, 2}, {CUDNN_KNOB_TYPE_STREAM_K, 0},
                                  {CUDNN_KNOB_TYPE_TILE_CGA_M, 0}, {CUDNN_KNOB_TYPE_STAGES, 2}};

bool areTwoPass(const std::vector<Knob> &knobs, size_t version) {
  return version >= kRenamed ? std::ranges::equal(knobs, kRenamedKnobs)
                             : std::ranges::equal(knobs, kTwoPassKnobs);
}

int64_t inBlocks(int64_t count) { return (count + 63) / 64 * 64; }

/// Workspace for the scores' gradients in 16 bits, and for gradients of heads that share keys.
int64_t gradientBytes(const OperationGraph &graph) {
  return graph.heads * inBlocks(graph.queries) * inBlocks(graph.keys) * 2 + graph.unsummed * 4;
}

Engine plainGradient(const OperationGraph &graph) {
  return {.index = 1,
          .knobs = {{CUDNN_KNOB_TYPE_KERNEL_CFG, 3}},
          .repeatsBits = !graph.addsInAnyOrder,
          .workspace = gradientBytes(graph)};
}

Engine atomicGradient(const OperationGraph &graph) {
  return {.index = 4, .knobs = {}, .repeatsBits = false, .workspace = gradientBytes(graph)};
}

} // namespace

std::vector<Engine> enginesFor(const OperationGraph &graph, cudnnBackendHeurMode_t mode, int major) {
  const bool isOfOne = graph.isBackward && graph.queries == 1 && graph.keys == 1;
  if (mode == CUDNN_HEUR_MODE_FALLBACK || isOfOne)
    return {};
  if (!graph.isBackward)
    return {{.index = 3, .knobs = {}, .workspace = kTooMuch},
            {.index = 6, .knobs = {}, .runs = false},
            {.index = 2, .knobs = {{CUDNN_KNOB_TYPE_TILE_M, 2}}, .workspace = kForwardBytes}};
  std::vector<Engine> engines{atomicGradient(graph)};
  if (major == 9)
    engines.push_back(plainGradient(graph));
  return engines;
}

std::optional<Engine> engineOf(const OperationGraph &graph, int64_t index, const std::vector<Knob> &knobs,
                               const EngineContext &context) {
  if (index == kTwoPassEngine && graph.isBackward)
    return Engine{.index = index,
                  .knobs = knobs,
                  .repeatsBits = !graph.addsInAnyOrder,
                  .runs = context.major == 10 && areTwoPass(knobs, context.version),
                  .workspace = gradientBytes(graph)};
  return std::nullopt;
}

} // namespace trainc::emulator
