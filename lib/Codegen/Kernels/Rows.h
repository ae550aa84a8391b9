// Kernels of nn.kernel: loops over rows and columns.
#pragma once

#include "lib/Codegen/Kernels/RowsPlan.h"

namespace trainc::codegen {

/// Whether the kernel supports padding after the rows of `value`, an operand or result. Holds if the value's
/// rows are the kernel's rows. Assumes a kernel that runs on several threads.
bool rowsTakePadding(nn::KernelOp kernel, mlir::Value value);

KernelSummary summariseRows(nn::KernelOp kernel, const RowsTuning &tuning);
Symbols generateRows(nn::KernelOp kernel, const RowsTuning &tuning, KernelModule &kernels);

} // namespace trainc::codegen
