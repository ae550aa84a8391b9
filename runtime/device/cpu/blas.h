// Matrix products of one thread, by a BLAS library; see docs/adr/0001-cpu-blas.md.
#pragma once

#include "runtime/base/status.h"
#include "runtime/device/device.h"

#include <string>

namespace trainc {

/// A BLAS that computes each product in the calling thread, loaded once per process at run time, so that its
/// kernels can be chosen before it looks at the CPU.
class Blas {
public:
  /// The library found at build time, or the system's by its name. On AMD CPUs its AVX2 kernels are chosen,
  /// which are the faster ones there, unless OPENBLAS_CORETYPE is set. Call it before the first thread
  /// starts: it sets environment variables. Fails (kFailed) when there is no library, or one that several
  /// threads cannot call at once.
  static Result<const Blas *> load();

  /// Computes the tile of `call` that begins at (row, column) of matrix `batch` of C, in the calling thread.
  /// Several threads may call it at once. Allocates nothing after the first call of a thread.
  void gemmTile(const GemmCall &call, int64_t batch, int64_t row, int64_t column) const;

  /// The version and the kernels in use, e.g. "OpenBLAS 0.3.21 Haswell"; checkpoints record it, since bits
  /// depend on both.
  const std::string &description() const { return description_; }

private:
  using Sgemm = void (*)(int order, int transposeA, int transposeB, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

  static Result<Blas> open();

  Sgemm sgemm_ = nullptr;
  std::string description_;
};

} // namespace trainc
