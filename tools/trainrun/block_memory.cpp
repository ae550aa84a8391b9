#include "tools/trainrun/block_memory.h"

#include "base/units.h"
#include "plan/facts/memory_need.h"
#include "plan/schema/limits.h"

namespace trainc {

std::optional<std::string> beyondMemoryLimit(const fb::Plan &plan, BlockMemory blocks) {
  if (blocks.blocks <= kCountedThreads || blocks.bytes == 0)
    return std::nullopt;
  const std::optional<uint64_t> limit = memoryLimitOf(plan);
  const uint64_t counted = memoryNeedOf(plan).together();
  const uint64_t needed = counted + (blocks.blocks - kCountedThreads) * blocks.bytes;
  if (!limit || counted > *limit || needed <= *limit)
    return std::nullopt;
  return fmt::format(
      "expected at most {} bytes, the memory limit that the plan was compiled with, found up to {} on "
      "{} threads, each of which has {} of working memory for kernels; run with --threads={}, or compile "
      "with --memory-limit={}",
      *limit, needed, blocks.blocks, formatBytes(blocks.bytes),
      kCountedThreads + (*limit - counted) / blocks.bytes, sizeOfAtLeast(needed));
}

} // namespace trainc
