// What instructions ask of a machine, in numbers that follow from the plan alone.
#pragma once

#include <limits>

namespace trainc {

/// What makes or moves the numbers of an instruction. Each reaches a rate of its own (machine.h).
enum class Worker {
  Arithmetic,           ///< instructions on single numbers
  Products,             ///< matrix products
  Attention,            ///< attention and its gradient by kernels of the plan
  LibraryAttention,     ///< attention by a library
  LibraryAttentionGrad, ///< its gradient by a library
  HostCores,            ///< kernels that the cores of a GPU's host run
  HostLink,             ///< copies between the device and the host
  DiskRead,             ///< copies from disk
  DiskWrite             ///< copies to disk
};

/// What the factors of products, or attention's queries, are made of, as far as rates differ.
enum class Factor {
  Full, ///< f32, or of no matter
  Tf32, ///< f32 that may be rounded to TF32
  Bf16,
  F16,
  Byte ///< fp8
};

/// What an instruction does. costOf() says how long that takes on a machine.
struct Work {
  Worker worker = Worker::Arithmetic;
  Factor factor = Factor::Full;
  bool isAligned = true;   ///< rows begin on borders of 16 bytes
  bool sumsBeside = false; ///< a product adds up the columns of its result or of a factor as well
  double flops = 0;        ///< multiply and add counted apart
  double arithmetic = 0;   ///< instructions on single numbers, besides those
  double bytes = 0;        ///< between memory and processor, or over the link
  double threads = std::numeric_limits<double>::infinity(); ///< that ask for the bytes
  double chain = 0; ///< accesses to memory at most that wait for one another, before the last one is done
};

/// What an activation or its gradient takes for each number: a division and an exponential, and the
/// polynomial around them.
inline constexpr double kActivationFlops = 20;

} // namespace trainc
