// The kernels of nn.kernel: loops over rows and columns.
#pragma once

#include "lib/Codegen/Kernels/RowsPlan.h"

namespace trainc::codegen {

/// The symbols of a summary's launches.
using Symbols = llvm::SmallVector<std::string>;

/// Whether the kernel takes padding behind the rows of `value`, which is among its operands or results: its
/// rows are the kernel's. Kernels of several threads do.
bool rowsTakePadding(nn::KernelOp kernel, mlir::Value value);

KernelSummary summariseRows(nn::KernelOp kernel, const RowsTuning &tuning);
Symbols generateRows(nn::KernelOp kernel, const RowsTuning &tuning, KernelModule &kernels);

} // namespace trainc::codegen
