// What cuDNN computes of attention, and with how much workspace: trainc chooses and plans by it, and trainrun
// refuses plans that ask for more.
#pragma once

#include <cstdint>

namespace trainc {

/// Sizes of a plan's attention, as in its table.
struct CudnnAttentionSizes {
  bool isBackward = false;
  uint64_t batch = 1, queries = 0, keys = 0, heads = 0, keyHeads = 0, headSize = 0, valueSize = 0;
  bool isCausal = false;
  bool isShort = false; ///< values of bf16 or f16
  bool hasSegments = false, hasLimit = false;
};

/// Whether cuDNN has it on every GPU from compute capability 8.0 on. Larger heads are not on all of them;
/// with more queries than keys, causal ones would see none; NVIDIA's own frontend of cuDNN refuses the
/// gradient of one query and one key.
inline constexpr bool isCudnnAttention(const CudnnAttentionSizes &sizes) {
  const auto fits = [](uint64_t size) { return size % 8 == 0 && size > 0 && size <= 128; };
  const bool isGradientOfOne = sizes.isBackward && sizes.queries == 1 && sizes.keys == 1;
  return sizes.isShort && !isGradientOfOne && !sizes.hasSegments && !sizes.hasLimit && fits(sizes.headSize) &&
         fits(sizes.valueSize) && (!sizes.isCausal || sizes.keys >= sizes.queries);
}

/// Whether cuDNN has a gradient that repeats its bits on GPUs of this compute capability.
inline constexpr bool hasCudnnGradient(int major) { return major == 9 || major == 10; }
inline constexpr const char *kCudnnGradientGpus = "9.0 to 10.3";

/// Up to the border at which the next part of a workspace begins.
inline constexpr uint64_t onCudnnBorder(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

/// Bytes of what the gradient keeps at the beginning of its workspace: a number in f32 for each query of each
/// head.
inline constexpr uint64_t cudnnSumsBytes(const CudnnAttentionSizes &sizes) {
  return sizes.isBackward ? onCudnnBorder(sizes.batch * sizes.heads * sizes.queries * sizeof(float)) : 0;
}

/// Bytes that a plan gives to such a call. cuDNN says only where it runs how many it needs. A gradient that
/// repeats its bits keeps the scores' gradients, in two bytes each, of blocks of 128 queries and keys at
/// most. Heads that share keys have gradients of their own first, in f32 at most.
inline constexpr uint64_t cudnnAttentionWorkspace(const CudnnAttentionSizes &sizes) {
  constexpr uint64_t kOther = uint64_t{1} << 20;
  if (!sizes.isBackward)
    return kOther;
  const auto inBlocks = [](uint64_t count) { return (count + 127) / 128 * 128; };
  const uint64_t heads = sizes.batch * sizes.heads;
  const uint64_t scores = heads * inBlocks(sizes.queries) * inBlocks(sizes.keys) * 2;
  const uint64_t unsummed =
      sizes.keyHeads == sizes.heads
          ? 0
          : heads * sizes.keys * (sizes.headSize + sizes.valueSize) * uint64_t{sizeof(float)};
  return cudnnSumsBytes(sizes) + onCudnnBorder(scores) + onCudnnBorder(unsummed) + kOther;
}

} // namespace trainc
