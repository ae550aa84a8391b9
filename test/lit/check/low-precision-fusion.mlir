// RUN: trainc-check %s --kernels --bound=2e-6

// Kernels of several bf16 and f16 ops, with and without f32. Each op rounds, so that fused kernels have the bits of separate ones. If a
// kernel rounded a number in the other direction than the reference, later results would exceed the bound. This happens only to a number
// within f32's error of the midpoint of two neighbours; these arguments lead to none.

// --- bf16 ---

func.func @bias_gelu_bf16(%x: tensor<37x83xbf16> {check.range = [-4.0, 4.0]}, %b: tensor<83xf32>) -> tensor<37x83xbf16> {
  %wide = nn.convert %x to f32 : tensor<37x83xbf16>
  %bias = nn.broadcast %b to [37, 83] : tensor<83xf32>
  %sum = nn.add %wide, %bias : tensor<37x83xf32>, tensor<37x83xf32>
  %gelu = nn.gelu %sum approximate tanh : tensor<37x83xf32>
  %r = nn.convert %gelu to bf16 : tensor<37x83xf32>
  return %r : tensor<37x83xbf16>
}
// Intermediate results are rounded. Without this rounding, the result would differ.
func.func @chain_bf16(%x: tensor<37x83xbf16> {check.range = [-4.0, 4.0]}, %y: tensor<37x83xbf16> {check.range = [1.0, 4.0]}) -> tensor<37x83xbf16> {
  %a = nn.add %x, %y : tensor<37x83xbf16>, tensor<37x83xbf16>
  %b = nn.mul %a, %y : tensor<37x83xbf16>, tensor<37x83xbf16>
  %c = nn.sub %b, %x : tensor<37x83xbf16>, tensor<37x83xbf16>
  return %c : tensor<37x83xbf16>
}
func.func @rounded_in_between_bf16(%x: tensor<37x83xf32> {check.range = [1.0, 2.0]}) -> tensor<37x83xf32> {
  %short = nn.convert %x to bf16 : tensor<37x83xf32>
  %wide = nn.convert %short to f32 : tensor<37x83xbf16>
  %lost = nn.sub %x, %wide : tensor<37x83xf32>, tensor<37x83xf32>
  return %lost : tensor<37x83xf32>
}
func.func @layer_norm_bf16(%x: tensor<5x7x130xbf16>, %w: tensor<130xf32>, %b: tensor<130xf32>) -> (tensor<5x7x130xbf16>, tensor<5x7xf32>) {
  %wide = nn.convert %x to f32 : tensor<5x7x130xbf16>
  %n, %rstd = nn.standardize %wide eps 1.0e-5 : tensor<5x7x130xf32>
  %scale = nn.broadcast %w to [5, 7, 130] : tensor<130xf32>
  %shift = nn.broadcast %b to [5, 7, 130] : tensor<130xf32>
  %m = nn.mul %n, %scale : tensor<5x7x130xf32>, tensor<5x7x130xf32>
  %s = nn.add %m, %shift : tensor<5x7x130xf32>, tensor<5x7x130xf32>
  %r = nn.convert %s to bf16 : tensor<5x7x130xf32>
  return %r, %rstd : tensor<5x7x130xbf16>, tensor<5x7xf32>
}
// Later passes read rounded numbers back.
func.func @softmax_bf16(%x: tensor<9x1003xbf16> {check.range = [-4.0, 4.0]}) -> (tensor<9x1003xbf16>, tensor<9x1xbf16>) {
  %max = nn.reduce max %x over [1] keep : tensor<9x1003xbf16>
  %least = nn.broadcast %max to [9, 1003] : tensor<9x1xbf16>
  %below = nn.sub %x, %least : tensor<9x1003xbf16>, tensor<9x1003xbf16>
  %e = nn.exp %below : tensor<9x1003xbf16>
  %sum = nn.reduce sum %e over [1] keep : tensor<9x1003xbf16>
  %total = nn.broadcast %sum to [9, 1003] : tensor<9x1xbf16>
  %r = nn.div %e, %total : tensor<9x1003xbf16>, tensor<9x1003xbf16>
  return %r, %sum : tensor<9x1003xbf16>, tensor<9x1xbf16>
}
func.func @softmax_in_f32_bf16(%x: tensor<9x1003xbf16> {check.range = [-10.0, 10.0]}) -> tensor<9x1003xbf16> {
  %wide = nn.convert %x to f32 : tensor<9x1003xbf16>
  %r = nn.softmax %wide : tensor<9x1003xf32>
  %s = nn.convert %r to bf16 : tensor<9x1003xf32>
  return %s : tensor<9x1003xbf16>
}
func.func @scale_and_bias_gradients_bf16(%n: tensor<301x67xf32>, %g: tensor<301x67xbf16>) -> (tensor<67xf32>, tensor<67xf32>, tensor<67xbf16>)
    attributes {check.kernel_tolerance = 1.0e-5} {
  %wide = nn.convert %g to f32 : tensor<301x67xbf16>
  %p = nn.mul %n, %wide : tensor<301x67xf32>, tensor<301x67xf32>
  %scale = nn.reduce sum %p over [0] : tensor<301x67xf32>
  %bias = nn.reduce sum %wide over [0] : tensor<301x67xf32>
  %short = nn.reduce sum %g over [0] : tensor<301x67xbf16>
  return %scale, %bias, %short : tensor<67xf32>, tensor<67xf32>, tensor<67xbf16>
}
func.func @loss_bf16(%x: tensor<6x997xbf16> {check.range = [-10.0, 10.0]}, %labels: tensor<6xi32> {check.integers = [-1, 998]}) -> tensor<f32> {
  %wide = nn.convert %x to f32 : tensor<6x997xbf16>
  %nll, %lse = nn.cross_entropy %wide, %labels smoothing 0.1 : tensor<6x997xf32>, tensor<6xi32>
  %sum = nn.reduce sum %nll over [0] : tensor<6xf32>
  return %sum : tensor<f32>
}
// One element per row and per column, and scalars.
func.func @scaled_bf16(%x: tensor<12x45xbf16>, %row: tensor<12xbf16>, %column: tensor<45xbf16>, %s: tensor<bf16>) -> (tensor<12x45xbf16>, tensor<12xbf16>) {
  %tall = nn.reshape %row to [12, 1] : tensor<12xbf16>
  %rows = nn.broadcast %tall to [12, 45] : tensor<12x1xbf16>
  %columns = nn.broadcast %column to [12, 45] : tensor<45xbf16>
  %all = nn.broadcast %s to [12, 45] : tensor<bf16>
  %a = nn.mul %x, %rows : tensor<12x45xbf16>, tensor<12x45xbf16>
  %b = nn.add %a, %columns : tensor<12x45xbf16>, tensor<12x45xbf16>
  %c = nn.mul %b, %all : tensor<12x45xbf16>, tensor<12x45xbf16>
  %d = nn.reduce sum %c over [1] : tensor<12x45xbf16>
  %e = nn.exp %d : tensor<12xbf16>
  return %c, %e : tensor<12x45xbf16>, tensor<12xbf16>
}
func.func @flat_bf16(%x: tensor<70001xbf16>, %y: tensor<70001xf32>) -> (tensor<70001xbf16>, tensor<70001xf32>) {
  %wide = nn.convert %x to f32 : tensor<70001xbf16>
  %s = nn.add %wide, %y : tensor<70001xf32>, tensor<70001xf32>
  %r = nn.convert %s to bf16 : tensor<70001xf32>
  return %r, %s : tensor<70001xbf16>, tensor<70001xf32>
}

// --- f16 ---

func.func @bias_gelu_f16(%x: tensor<37x83xf16> {check.range = [-4.0, 4.0]}, %b: tensor<83xf32>) -> tensor<37x83xf16> {
  %wide = nn.convert %x to f32 : tensor<37x83xf16>
  %bias = nn.broadcast %b to [37, 83] : tensor<83xf32>
  %sum = nn.add %wide, %bias : tensor<37x83xf32>, tensor<37x83xf32>
  %gelu = nn.gelu %sum approximate tanh : tensor<37x83xf32>
  %r = nn.convert %gelu to f16 : tensor<37x83xf32>
  return %r : tensor<37x83xf16>
}
// Intermediate results are rounded. Without this rounding, the result would differ.
func.func @chain_f16(%x: tensor<37x83xf16> {check.range = [-4.0, 4.0]}, %y: tensor<37x83xf16> {check.range = [1.0, 4.0]}) -> tensor<37x83xf16> {
  %a = nn.add %x, %y : tensor<37x83xf16>, tensor<37x83xf16>
  %b = nn.mul %a, %y : tensor<37x83xf16>, tensor<37x83xf16>
  %c = nn.sub %b, %x : tensor<37x83xf16>, tensor<37x83xf16>
  return %c : tensor<37x83xf16>
}
func.func @rounded_in_between_f16(%x: tensor<37x83xf32> {check.range = [1.0, 2.0]}) -> tensor<37x83xf32> {
  %short = nn.convert %x to f16 : tensor<37x83xf32>
  %wide = nn.convert %short to f32 : tensor<37x83xf16>
  %lost = nn.sub %x, %wide : tensor<37x83xf32>, tensor<37x83xf32>
  return %lost : tensor<37x83xf32>
}
func.func @layer_norm_f16(%x: tensor<5x7x130xf16>, %w: tensor<130xf32>, %b: tensor<130xf32>) -> (tensor<5x7x130xf16>, tensor<5x7xf32>) {
  %wide = nn.convert %x to f32 : tensor<5x7x130xf16>
  %n, %rstd = nn.standardize %wide eps 1.0e-5 : tensor<5x7x130xf32>
  %scale = nn.broadcast %w to [5, 7, 130] : tensor<130xf32>
  %shift = nn.broadcast %b to [5, 7, 130] : tensor<130xf32>
  %m = nn.mul %n, %scale : tensor<5x7x130xf32>, tensor<5x7x130xf32>
  %s = nn.add %m, %shift : tensor<5x7x130xf32>, tensor<5x7x130xf32>
  %r = nn.convert %s to f16 : tensor<5x7x130xf32>
  return %r, %rstd : tensor<5x7x130xf16>, tensor<5x7xf32>
}
// Later passes read rounded numbers back.
func.func @softmax_f16(%x: tensor<9x1003xf16> {check.range = [-4.0, 4.0]}) -> (tensor<9x1003xf16>, tensor<9x1xf16>) {
  %max = nn.reduce max %x over [1] keep : tensor<9x1003xf16>
  %least = nn.broadcast %max to [9, 1003] : tensor<9x1xf16>
  %below = nn.sub %x, %least : tensor<9x1003xf16>, tensor<9x1003xf16>
  %e = nn.exp %below : tensor<9x1003xf16>
  %sum = nn.reduce sum %e over [1] keep : tensor<9x1003xf16>
  %total = nn.broadcast %sum to [9, 1003] : tensor<9x1xf16>
  %r = nn.div %e, %total : tensor<9x1003xf16>, tensor<9x1003xf16>
  return %r, %sum : tensor<9x1003xf16>, tensor<9x1xf16>
}
func.func @softmax_in_f32_f16(%x: tensor<9x1003xf16> {check.range = [-10.0, 10.0]}) -> tensor<9x1003xf16> {
  %wide = nn.convert %x to f32 : tensor<9x1003xf16>
  %r = nn.softmax %wide : tensor<9x1003xf32>
  %s = nn.convert %r to f16 : tensor<9x1003xf32>
  return %s : tensor<9x1003xf16>
}
func.func @scale_and_bias_gradients_f16(%n: tensor<301x67xf32>, %g: tensor<301x67xf16>) -> (tensor<67xf32>, tensor<67xf32>, tensor<67xf16>)
    attributes {check.kernel_tolerance = 1.0e-5} {
  %wide = nn.convert %g to f32 : tensor<301x67xf16>
  %p = nn.mul %n, %wide : tensor<301x67xf32>, tensor<301x67xf32>
  %scale = nn.reduce sum %p over [0] : tensor<301x67xf32>
  %bias = nn.reduce sum %wide over [0] : tensor<301x67xf32>
  %short = nn.reduce sum %g over [0] : tensor<301x67xf16>
  return %scale, %bias, %short : tensor<67xf32>, tensor<67xf32>, tensor<67xf16>
}
func.func @loss_f16(%x: tensor<6x997xf16> {check.range = [-10.0, 10.0]}, %labels: tensor<6xi32> {check.integers = [-1, 998]}) -> tensor<f32> {
  %wide = nn.convert %x to f32 : tensor<6x997xf16>
  %nll, %lse = nn.cross_entropy %wide, %labels smoothing 0.1 : tensor<6x997xf32>, tensor<6xi32>
  %sum = nn.reduce sum %nll over [0] : tensor<6xf32>
  return %sum : tensor<f32>
}
// One element per row and per column, and scalars.
func.func @scaled_f16(%x: tensor<12x45xf16>, %row: tensor<12xf16>, %column: tensor<45xf16>, %s: tensor<f16>) -> (tensor<12x45xf16>, tensor<12xf16>) {
  %tall = nn.reshape %row to [12, 1] : tensor<12xf16>
  %rows = nn.broadcast %tall to [12, 45] : tensor<12x1xf16>
  %columns = nn.broadcast %column to [12, 45] : tensor<45xf16>
  %all = nn.broadcast %s to [12, 45] : tensor<f16>
  %a = nn.mul %x, %rows : tensor<12x45xf16>, tensor<12x45xf16>
  %b = nn.add %a, %columns : tensor<12x45xf16>, tensor<12x45xf16>
  %c = nn.mul %b, %all : tensor<12x45xf16>, tensor<12x45xf16>
  %d = nn.reduce sum %c over [1] : tensor<12x45xf16>
  %e = nn.exp %d : tensor<12xf16>
  return %c, %e : tensor<12x45xf16>, tensor<12xf16>
}
func.func @flat_f16(%x: tensor<70001xf16>, %y: tensor<70001xf32>) -> (tensor<70001xf16>, tensor<70001xf32>) {
  %wide = nn.convert %x to f32 : tensor<70001xf16>
  %s = nn.add %wide, %y : tensor<70001xf32>, tensor<70001xf32>
  %r = nn.convert %s to f16 : tensor<70001xf32>
  return %r, %s : tensor<70001xf16>, tensor<70001xf32>
}
