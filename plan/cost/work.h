// Work of instructions, independent of the machine.
#pragma once

#include <limits>

namespace trainc {

/// Unit that executes an instruction or transfer. Each has a rate of its own (machine.h).
enum class Worker {
  Arithmetic,           ///< scalar instructions
  Products,             ///< matrix products
  Attention,            ///< attention and its gradient by kernels of the plan
  LibraryAttention,     ///< attention by a library
  LibraryAttentionGrad, ///< its gradient by a library
  HostCores,            ///< kernels on the cores of a GPU's host
  HostLink,             ///< copies between the device and the host
  DiskRead,             ///< copies from disk
  DiskWrite             ///< copies to disk
};

/// Type of a product's factors or of attention's queries, as far as rates differ.
enum class Factor {
  Full, ///< f32, or irrelevant
  Tf32, ///< f32 that may be rounded to TF32
  Bf16,
  F16,
  Byte ///< fp8
};

/// Work of an instruction; costOf() converts it to time on a machine.
struct Work {
  Worker worker = Worker::Arithmetic;
  Factor factor = Factor::Full;
  bool isAligned = true;   ///< rows are aligned to 16 bytes
  bool sumsBeside = false; ///< a product also sums the columns of its result or of a factor
  double flops = 0;        ///< multiply and add counted separately
  double arithmetic = 0;   ///< scalar instructions besides flops
  double bytes = 0;        ///< between memory and processor, or over the link
  double threads = std::numeric_limits<double>::infinity(); ///< number of threads that access memory
  double chain = 0; ///< maximum length of a chain of dependent memory accesses
};

/// Returns the number of pairs of a query and a key to which the query attends. With `causal`, the last query
/// attends to all keys, and each other query to one key fewer than the query after it.
template <typename Count> constexpr Count visiblePairs(Count queries, Count keys, bool causal) {
  return causal && keys >= queries ? queries * (keys - queries) + queries * (queries + 1) / 2
                                   : queries * keys;
}

/// Matrix products of attention for each pair of a query and a key, over the head width and over the value
/// width.
struct AttentionProducts {
  uint32_t head, value;
};
inline constexpr AttentionProducts kAttentionProducts = {1, 1};
/// Over head width: recomputed scores, dq and dk. Over value width: dp and dv.
inline constexpr AttentionProducts kAttentionGradProducts = {3, 2};

/// FLOPs of attention or of its gradient for all `pairs` of each head.
template <typename Count>
constexpr Count attentionFlops(Count pairs, Count headWidth, Count valueWidth, AttentionProducts products) {
  return 2 * pairs * (Count(products.head) * headWidth + Count(products.value) * valueWidth);
}

/// FLOPs per element of an activation or its gradient: a division, an exponential, and a polynomial.
inline constexpr double kActivationFlops = 20;

} // namespace trainc
