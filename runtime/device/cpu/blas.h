// Matrix products of one thread, by a BLAS library; see docs/adr/0001-cpu-blas.md.
#pragma once

#include "runtime/device/device.h"

#include <string>

namespace trainc {

/// Computes the tile of `call` that begins at (row, column) of matrix `batch` of C, in the calling thread.
/// Several threads may call it at once.
void gemmTile(const GemmCall &call, int64_t batch, int64_t row, int64_t column);

/// The library and the kernels it chose, e.g. "OpenBLAS 0.3.21 SkylakeX"; checkpoints record it, since bits
/// depend on it.
std::string blasDescription();

} // namespace trainc
