#include "runtime/device/cpu/kernel_runner.h"

#include "runtime/device/cpu/race_detection.h"

#include <algorithm>

namespace trainc {

namespace {

/// Alignment of each thread's scratch memory: separate pages, spread over the cache sets.
constexpr uint64_t kBlockAlignment = 4096;

} // namespace

Status KernelRunner::load(const fb::Plan &plan) {
  TRAINC_ASSIGN_OR_RETURN(kernels_, KernelLibrary::load(plan));
  uint64_t largest = 0;
  for (uint32_t i = 0; i < plan.kernels()->size(); ++i)
    if (kernels_.holds(i))
      largest = std::max<uint64_t>(largest, plan.kernels()->Get(i)->shared_bytes());
  blockBytes_ = (largest + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  TRAINC_ASSIGN_OR_RETURN(ArenaMapping memory, ArenaMapping::create("blocks", blockBytes_ * pool_.threads(),
                                                                    /*reserveOnly=*/false));
  blockMemory_.emplace(std::move(memory));
  return {};
}

void KernelRunner::launch(uint32_t kernel, void *const *args, uint64_t grid, const TileRunner &tiles) const {
  const KernelFunction function = kernels_.kernel(kernel);
  tellRaceDetector(kernels_.about(kernel), args);
  tiles.run(grid, [=, this](uint64_t begin, uint64_t end) {
    function(args, static_cast<int64_t>(begin), static_cast<int64_t>(end),
             blockMemory_->data() + blockBytes_ * ThreadPool::thread());
  });
}

} // namespace trainc
