// What instructions ask of a machine, in numbers that follow from the plan alone.
#pragma once

#include "mlir/IR/Types.h"

#include <limits>

namespace trainc::plan {

/// What makes the numbers of an instruction. Each reaches a rate of its own (lib/Analysis/Machine.h).
enum class Worker {
  Arithmetic,          ///< instructions on single numbers
  Products,            ///< matrix products
  Attention,           ///< attention and its gradient by kernels of the plan
  LibraryAttention,    ///< attention by a library
  LibraryAttentionGrad ///< its gradient by a library
};

/// What an instruction does. costOf() says how long that takes on a machine.
struct Work {
  Worker worker = Worker::Arithmetic;
  mlir::Type element = {};  ///< of a product's factors, or of attention's queries; null for other workers
  bool isTf32 = false;      ///< factors of f32 may be rounded to TF32
  bool isAligned = true;    ///< rows begin on borders of 16 bytes
  bool sumsBeside = false;  ///< a product adds up the columns of its result or of a factor as well
  double flops = 0;         ///< multiply and add counted apart
  double epilogueFlops = 0; ///< arithmetic on the results, behind those
  double bytes = 0;         ///< between memory and processor
  double threads = std::numeric_limits<double>::infinity(); ///< that ask for the bytes
  double chain = 0; ///< accesses to memory at most that wait for one another, before the last one is done
};

} // namespace trainc::plan
