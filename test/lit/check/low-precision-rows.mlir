// RUN: trainc-check %s --kernels --bound=2e-6

// Reductions, lookups and moves of bf16 and f16. Sizes leave tails in lanes, tiles and blocks.

// --- bf16 ---

func.func @rows_bf16(%x: tensor<9x1003xbf16>) -> (tensor<9xbf16>, tensor<9xf32>, tensor<9xbf16>, tensor<9xbf16>, tensor<9xbf16>)
    attributes {check.kernel_tolerance = 2.0e-5} {
  %sum = nn.reduce sum %x over [1] : tensor<9x1003xbf16>
  %wide = nn.reduce sum %x over [1] to f32 : tensor<9x1003xbf16>
  %max = nn.reduce max %x over [1] : tensor<9x1003xbf16>
  %min = nn.reduce min %x over [1] : tensor<9x1003xbf16>
  %mean = nn.reduce mean %x over [1] : tensor<9x1003xbf16>
  return %sum, %wide, %max, %min, %mean : tensor<9xbf16>, tensor<9xf32>, tensor<9xbf16>, tensor<9xbf16>, tensor<9xbf16>
}
// Many tiles leave partial results, which stay f32.
func.func @columns_bf16(%x: tensor<701x67xbf16>) -> (tensor<67xbf16>, tensor<67xf32>, tensor<67xbf16>, tensor<67xbf16>)
    attributes {check.kernel_tolerance = 2.0e-5} {
  %sum = nn.reduce sum %x over [0] : tensor<701x67xbf16>
  %wide = nn.reduce sum %x over [0] to f32 : tensor<701x67xbf16>
  %max = nn.reduce max %x over [0] : tensor<701x67xbf16>
  %mean = nn.reduce mean %x over [0] : tensor<701x67xbf16>
  return %sum, %wide, %max, %mean : tensor<67xbf16>, tensor<67xf32>, tensor<67xbf16>, tensor<67xbf16>
}
// One tile, whose sums stay f32 too.
func.func @columns_of_one_tile_bf16(%x: tensor<301x19xbf16>) -> (tensor<19xbf16>, tensor<19xbf16>) {
  %sum = nn.reduce sum %x over [0] : tensor<301x19xbf16>
  %min = nn.reduce min %x over [0] : tensor<301x19xbf16>
  return %sum, %min : tensor<19xbf16>, tensor<19xbf16>
}
func.func @total_bf16(%x: tensor<33x1021xbf16>) -> (tensor<bf16>, tensor<f32>) attributes {check.kernel_tolerance = 2.0e-5} {
  %square = nn.square %x : tensor<33x1021xbf16>
  %sum = nn.reduce sum %square over [0, 1] : tensor<33x1021xbf16>
  %wide = nn.reduce sum %x over [0, 1] to f32 : tensor<33x1021xbf16>
  return %sum, %wide : tensor<bf16>, tensor<f32>
}
func.func @middle_bf16(%x: tensor<6x7x1x9xbf16>) -> (tensor<6x1x9xbf16>, tensor<7x1xbf16>, tensor<6x7x9xbf16>) {
  %a = nn.reduce sum %x over [1] : tensor<6x7x1x9xbf16>
  %b = nn.reduce sum %x over [0, 3] : tensor<6x7x1x9xbf16>
  %c = nn.reduce sum %x over [2] : tensor<6x7x1x9xbf16>
  return %a, %b, %c : tensor<6x1x9xbf16>, tensor<7x1xbf16>, tensor<6x7x9xbf16>
}
// A sum is rounded before its row reads it.
func.func @rows_of_sums_bf16(%x: tensor<5x130xbf16> {check.range = [0.5, 1.5]}) -> tensor<5x130xbf16> {
  %sum = nn.reduce sum %x over [1] keep : tensor<5x130xbf16>
  %all = nn.broadcast %sum to [5, 130] : tensor<5x1xbf16>
  %r = nn.div %x, %all : tensor<5x130xbf16>, tensor<5x130xbf16>
  return %r : tensor<5x130xbf16>
}
func.func @embedding_bf16(%table: tensor<50x33xbf16>, %ids: tensor<7x11xi32> {check.integers = [-1, 51]}, %g: tensor<7x11x33xbf16>)
    -> (tensor<7x11x33xbf16>, tensor<50x33xf32>, tensor<50x33xbf16>) {
  %x = nn.gather %table at %ids : tensor<50x33xbf16>, tensor<7x11xi32>
  %zero = nn.constant 0.0 : tensor<50x33xf32>
  %d = nn.scatter_add %g into %zero at %ids : tensor<7x11x33xbf16>, tensor<50x33xf32>, tensor<7x11xi32>
  %s = nn.scatter_add %g into %table at %ids : tensor<7x11x33xbf16>, tensor<50x33xbf16>, tensor<7x11xi32>
  return %x, %d, %s : tensor<7x11x33xbf16>, tensor<50x33xf32>, tensor<50x33xbf16>
}
func.func @embedding_in_f32_bf16(%table: tensor<50x33xbf16>, %ids: tensor<7x11xi32> {check.integers = [-1, 51]}, %p: tensor<7x11x33xf32>) -> tensor<7x11x33xf32> {
  %wide = nn.convert %table to f32 : tensor<50x33xbf16>
  %x = nn.gather %wide at %ids : tensor<50x33xf32>, tensor<7x11xi32>
  %r = nn.add %x, %p : tensor<7x11x33xf32>, tensor<7x11x33xf32>
  return %r : tensor<7x11x33xf32>
}
func.func @picked_bf16(%table: tensor<50x1xbf16>, %ids: tensor<77xi64> {check.integers = [-1, 51]}) -> tensor<77x1xbf16> {
  %x = nn.gather %table at %ids : tensor<50x1xbf16>, tensor<77xi64>
  return %x : tensor<77x1xbf16>
}
func.func @moved_bf16(%x: tensor<5x19x21xbf16>)
    -> (tensor<21x5x19xbf16>, tensor<5x21x19xbf16>, tensor<5x8x21xbf16>, tensor<5x19x26xbf16>, tensor<5x38x21xbf16>, tensor<3x5x19x21xbf16>)
    attributes {check.kernel_tolerance = 0.0} {
  %a = nn.transpose %x by [2, 0, 1] : tensor<5x19x21xbf16>
  %t = nn.transpose %x by [0, 2, 1] : tensor<5x19x21xbf16>
  %b = nn.slice %x dim 1 from 11 size 8 : tensor<5x19x21xbf16>
  %c = nn.pad %x dim 2 low 2 high 3 : tensor<5x19x21xbf16>
  %d = nn.concat dim 1 %x, %x : tensor<5x19x21xbf16>, tensor<5x19x21xbf16>
  %e = nn.broadcast %x to [3, 5, 19, 21] : tensor<5x19x21xbf16>
  return %a, %t, %b, %c, %d, %e : tensor<21x5x19xbf16>, tensor<5x21x19xbf16>, tensor<5x8x21xbf16>, tensor<5x19x26xbf16>, tensor<5x38x21xbf16>, tensor<3x5x19x21xbf16>
}

// --- f16 ---

func.func @rows_f16(%x: tensor<9x1003xf16>) -> (tensor<9xf16>, tensor<9xf32>, tensor<9xf16>, tensor<9xf16>, tensor<9xf16>)
    attributes {check.kernel_tolerance = 2.0e-5} {
  %sum = nn.reduce sum %x over [1] : tensor<9x1003xf16>
  %wide = nn.reduce sum %x over [1] to f32 : tensor<9x1003xf16>
  %max = nn.reduce max %x over [1] : tensor<9x1003xf16>
  %min = nn.reduce min %x over [1] : tensor<9x1003xf16>
  %mean = nn.reduce mean %x over [1] : tensor<9x1003xf16>
  return %sum, %wide, %max, %min, %mean : tensor<9xf16>, tensor<9xf32>, tensor<9xf16>, tensor<9xf16>, tensor<9xf16>
}
// Many tiles leave partial results, which stay f32.
func.func @columns_f16(%x: tensor<701x67xf16>) -> (tensor<67xf16>, tensor<67xf32>, tensor<67xf16>, tensor<67xf16>)
    attributes {check.kernel_tolerance = 2.0e-5} {
  %sum = nn.reduce sum %x over [0] : tensor<701x67xf16>
  %wide = nn.reduce sum %x over [0] to f32 : tensor<701x67xf16>
  %max = nn.reduce max %x over [0] : tensor<701x67xf16>
  %mean = nn.reduce mean %x over [0] : tensor<701x67xf16>
  return %sum, %wide, %max, %mean : tensor<67xf16>, tensor<67xf32>, tensor<67xf16>, tensor<67xf16>
}
// One tile, whose sums stay f32 too.
func.func @columns_of_one_tile_f16(%x: tensor<301x19xf16>) -> (tensor<19xf16>, tensor<19xf16>) {
  %sum = nn.reduce sum %x over [0] : tensor<301x19xf16>
  %min = nn.reduce min %x over [0] : tensor<301x19xf16>
  return %sum, %min : tensor<19xf16>, tensor<19xf16>
}
func.func @total_f16(%x: tensor<33x1021xf16>) -> (tensor<f16>, tensor<f32>) attributes {check.kernel_tolerance = 2.0e-5} {
  %square = nn.square %x : tensor<33x1021xf16>
  %sum = nn.reduce sum %square over [0, 1] : tensor<33x1021xf16>
  %wide = nn.reduce sum %x over [0, 1] to f32 : tensor<33x1021xf16>
  return %sum, %wide : tensor<f16>, tensor<f32>
}
func.func @middle_f16(%x: tensor<6x7x1x9xf16>) -> (tensor<6x1x9xf16>, tensor<7x1xf16>, tensor<6x7x9xf16>) {
  %a = nn.reduce sum %x over [1] : tensor<6x7x1x9xf16>
  %b = nn.reduce sum %x over [0, 3] : tensor<6x7x1x9xf16>
  %c = nn.reduce sum %x over [2] : tensor<6x7x1x9xf16>
  return %a, %b, %c : tensor<6x1x9xf16>, tensor<7x1xf16>, tensor<6x7x9xf16>
}
// A sum is rounded before its row reads it.
func.func @rows_of_sums_f16(%x: tensor<5x130xf16> {check.range = [0.5, 1.5]}) -> tensor<5x130xf16> {
  %sum = nn.reduce sum %x over [1] keep : tensor<5x130xf16>
  %all = nn.broadcast %sum to [5, 130] : tensor<5x1xf16>
  %r = nn.div %x, %all : tensor<5x130xf16>, tensor<5x130xf16>
  return %r : tensor<5x130xf16>
}
func.func @embedding_f16(%table: tensor<50x33xf16>, %ids: tensor<7x11xi32> {check.integers = [-1, 51]}, %g: tensor<7x11x33xf16>)
    -> (tensor<7x11x33xf16>, tensor<50x33xf32>, tensor<50x33xf16>) {
  %x = nn.gather %table at %ids : tensor<50x33xf16>, tensor<7x11xi32>
  %zero = nn.constant 0.0 : tensor<50x33xf32>
  %d = nn.scatter_add %g into %zero at %ids : tensor<7x11x33xf16>, tensor<50x33xf32>, tensor<7x11xi32>
  %s = nn.scatter_add %g into %table at %ids : tensor<7x11x33xf16>, tensor<50x33xf16>, tensor<7x11xi32>
  return %x, %d, %s : tensor<7x11x33xf16>, tensor<50x33xf32>, tensor<50x33xf16>
}
func.func @embedding_in_f32_f16(%table: tensor<50x33xf16>, %ids: tensor<7x11xi32> {check.integers = [-1, 51]}, %p: tensor<7x11x33xf32>) -> tensor<7x11x33xf32> {
  %wide = nn.convert %table to f32 : tensor<50x33xf16>
  %x = nn.gather %wide at %ids : tensor<50x33xf32>, tensor<7x11xi32>
  %r = nn.add %x, %p : tensor<7x11x33xf32>, tensor<7x11x33xf32>
  return %r : tensor<7x11x33xf32>
}
func.func @picked_f16(%table: tensor<50x1xf16>, %ids: tensor<77xi64> {check.integers = [-1, 51]}) -> tensor<77x1xf16> {
  %x = nn.gather %table at %ids : tensor<50x1xf16>, tensor<77xi64>
  return %x : tensor<77x1xf16>
}
func.func @moved_f16(%x: tensor<5x19x21xf16>)
    -> (tensor<21x5x19xf16>, tensor<5x21x19xf16>, tensor<5x8x21xf16>, tensor<5x19x26xf16>, tensor<5x38x21xf16>, tensor<3x5x19x21xf16>)
    attributes {check.kernel_tolerance = 0.0} {
  %a = nn.transpose %x by [2, 0, 1] : tensor<5x19x21xf16>
  %t = nn.transpose %x by [0, 2, 1] : tensor<5x19x21xf16>
  %b = nn.slice %x dim 1 from 11 size 8 : tensor<5x19x21xf16>
  %c = nn.pad %x dim 2 low 2 high 3 : tensor<5x19x21xf16>
  %d = nn.concat dim 1 %x, %x : tensor<5x19x21xf16>, tensor<5x19x21xf16>
  %e = nn.broadcast %x to [3, 5, 19, 21] : tensor<5x19x21xf16>
  return %a, %t, %b, %c, %d, %e : tensor<21x5x19xf16>, tensor<5x21x19xf16>, tensor<5x8x21xf16>, tensor<5x19x26xf16>, tensor<5x38x21xf16>, tensor<3x5x19x21xf16>
}
