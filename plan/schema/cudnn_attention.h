// Attention supported by cuDNN, and its workspace: trainc plans by it, and trainrun rejects plans that exceed
// it.
#pragma once

#include <cstdint>

namespace trainc {

/// Sizes of an attention call, as in fb::Attention.
struct CudnnAttentionSizes {
  bool isBackward = false;
  uint64_t batch = 1, queries = 0, keys = 0, heads = 0, keyHeads = 0, headSize = 0, valueSize = 0;
  bool isCausal = false;
  bool isShort = false; ///< whether values are bf16 or f16
  bool hasSegments = false, hasLimit = false;
};

/// Whether cuDNN supports it on every GPU from compute capability 8.0 on. Larger heads are not supported on
/// all of them. A causal mask with more queries than keys would leave queries without keys. NVIDIA's cuDNN
/// frontend rejects the gradient of one query and one key.
inline constexpr bool isCudnnAttention(const CudnnAttentionSizes &sizes) {
  const auto fits = [](uint64_t size) { return size % 8 == 0 && size > 0 && size <= 128; };
  const bool isGradientOfOne = sizes.isBackward && sizes.queries == 1 && sizes.keys == 1;
  return sizes.isShort && !isGradientOfOne && !sizes.hasSegments && !sizes.hasLimit && fits(sizes.headSize) &&
         fits(sizes.valueSize) && (!sizes.isCausal || sizes.keys >= sizes.queries);
}

/// Whether cuDNN has a deterministic gradient on GPUs of this compute capability.
inline constexpr bool hasCudnnGradient(int major) { return major == 9 || major == 10; }
inline constexpr const char *kCudnnGradientGpus = "9.0 to 10.3";

/// Rounds up to the alignment of the parts of a workspace.
inline constexpr uint64_t cudnnAligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

/// Bytes of the row sums at the begin of the gradient's workspace: one f32 per query and head.
inline constexpr uint64_t cudnnSumsBytes(const CudnnAttentionSizes &sizes) {
  return sizes.isBackward ? cudnnAligned(sizes.batch * sizes.heads * sizes.queries * sizeof(float)) : 0;
}

/// Bytes of workspace that a plan allocates for a call; cuDNN reports the exact need only at run time. A
/// deterministic gradient stores the scores' gradients, two bytes each, of blocks of at most 128 queries and
/// keys. Heads that share keys first have gradients of their own, in at most f32.
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
  return cudnnSumsBytes(sizes) + cudnnAligned(scores) + cudnnAligned(unsummed) + kOther;
}

} // namespace trainc
