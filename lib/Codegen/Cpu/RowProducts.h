// Products of one row, as in generation token by token: C = a op(B).
#pragma once

#include "lib/Codegen/Cpu/GemmTile.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen {

/// Whether C has a single row, and the elements of a are contiguous and f32 or narrower. Reading B then takes
/// longer than the arithmetic, so B is multiplied in place, without packing it into panels.
bool isRowProduct(const Product &product);

/// Returns the sizes of tiles of a product for which isRowProduct() holds.
ProductSizes rowProductSizes(const Product &product);

/// Builds the body of a kernel of such a product. Sums terms in the order of products by
/// multiply-adds, so that a row of f32 or f16 numbers has the same bits alone and among rows that are
/// computed so.
void emitRowProduct(const Product &product, const TileGrid &grid, KernelFunction &function);

} // namespace trainc::codegen
