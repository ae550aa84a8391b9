// Products of one row, as in generation token by token: C = a op(B).
#pragma once

#include "lib/Codegen/Cpu/GemmTile.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen {

/// Whether products have a single row, whose terms are contiguous. B is then read once, which takes longer
/// than the arithmetic. So it is multiplied where it is, without panels.
bool isRowProduct(const Product &product);

/// Sizes of tiles of such products.
ProductSizes rowProductSizes(const Product &product);

/// Builds the body of a kernel of such a product. Elements are summed in the order of all products of f32 or
/// f16 numbers, so that a row has the same bits alone and among others.
void emitRowProduct(const Product &product, const TileGrid &grid, KernelFunction &function);

} // namespace trainc::codegen
