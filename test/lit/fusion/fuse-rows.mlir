// RUN: trainc-opt %s --fuse | FileCheck %s

// Layer norm with scale and shift: one kernel, with the row statistic that the backward needs as an output.
// CHECK-LABEL: func.func @layerNorm
func.func @layerNorm(%x: tensor<2x8x64xf32>, %gamma: tensor<64xf32>) -> (tensor<2x8x64xf32>, tensor<2x8xf32>) {
  // CHECK: nn.kernel 16 x 64 (%{{.*}} = %arg0 : tensor<2x8x64xf32>, %{{.*}} = %arg1 : tensor<64xf32> at <*16, 64>) -> (tensor<2x8xf32>, tensor<2x8x64xf32>) {
  // CHECK-NOT: nn.kernel
  %sq = nn.mul %x, %x : tensor<2x8x64xf32>, tensor<2x8x64xf32>
  %s = nn.reduce sum %sq over [2] : tensor<2x8x64xf32>
  %n = nn.constant 0.015625 : tensor<2x8xf32>
  %m = nn.mul %s, %n : tensor<2x8xf32>, tensor<2x8xf32>
  %r = nn.rsqrt %m : tensor<2x8xf32>
  %c = nn.reshape %r to [2, 8, 1] : tensor<2x8xf32>
  %b = nn.broadcast %c to [2, 8, 64] : tensor<2x8x1xf32>
  %y = nn.mul %x, %b : tensor<2x8x64xf32>, tensor<2x8x64xf32>
  %g = nn.broadcast %gamma to [2, 8, 64] : tensor<64xf32>
  %z = nn.mul %y, %g : tensor<2x8x64xf32>, tensor<2x8x64xf32>
  return %z, %r : tensor<2x8x64xf32>, tensor<2x8xf32>
}

// Column sums join the kernel that makes or reads what they sum; their results are outputs only.
// CHECK-LABEL: func.func @columnSums
func.func @columnSums(%dy: tensor<64x32xf32>, %x: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
  // CHECK: %[[K:.*]]:3 = nn.kernel 64 x 32
  // CHECK: nn.reduce sum %{{.*}} over [0] {nn.pattern = #nn.pattern<*64, 32>}
  // CHECK: nn.reduce sum %{{.*}} over [0] {nn.pattern = #nn.pattern<*64, 32>}
  // CHECK: nn.kernel 1 x 32 (%{{.*}} = %[[K]]#1 : tensor<32xf32>)
  // CHECK: nn.neg
  %t = nn.tanh %x : tensor<64x32xf32>
  %dx = nn.mul %dy, %t : tensor<64x32xf32>, tensor<64x32xf32>
  %db = nn.reduce sum %dy over [0] : tensor<64x32xf32>
  %dg = nn.reduce sum %dx over [0] : tensor<64x32xf32>
  %n = nn.neg %db : tensor<32xf32>
  return %dx, %dg, %n, %db : tensor<64x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
}

// An embedding is gathered into the rows that use it, and positions are added without being repeated in memory.
// CHECK-LABEL: func.func @embedding
func.func @embedding(%wte: tensor<100x64xf32>, %positions: tensor<8x64xf32>, %ids: tensor<2x8xi32>) -> tensor<2x8x64xf32> {
  // CHECK: nn.kernel 16 x 64 (%[[T:.*]] = %arg0 : tensor<100x64xf32> table, %[[I:.*]] = %arg2 : tensor<2x8xi32> at <16, *64>, %[[P:.*]] = %arg1 : tensor<8x64xf32> at <*2, 512>)
  // CHECK: nn.gather %[[T]] at %[[I]]
  // CHECK: nn.broadcast %[[P]] to [2, 8, 64]
  // CHECK-NOT: nn.kernel
  %x = nn.gather %wte at %ids : tensor<100x64xf32>, tensor<2x8xi32>
  %p = nn.broadcast %positions to [2, 8, 64] : tensor<8x64xf32>
  %y = nn.add %x, %p : tensor<2x8x64xf32>, tensor<2x8x64xf32>
  return %y : tensor<2x8x64xf32>
}

// A table that a kernel makes is gathered from by another one.
// CHECK-LABEL: func.func @computedTable
func.func @computedTable(%table: tensor<8x64xf32>, %ids: tensor<8xi32>) -> tensor<8x64xf32> {
  // CHECK: %[[T:.*]] = nn.kernel 1 x 512
  // CHECK: nn.kernel 8 x 64 (%{{.*}} = %[[T]] : tensor<8x64xf32> table, %{{.*}} = %arg1 : tensor<8xi32> at <8, *64>)
  %t = nn.exp %table : tensor<8x64xf32>
  %x = nn.gather %t at %ids : tensor<8x64xf32>, tensor<8xi32>
  return %x : tensor<8x64xf32>
}

// Rows of one group are not the rows of the other.
// CHECK-LABEL: func.func @twoRowLengths
func.func @twoRowLengths(%x: tensor<4x8x16xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // CHECK: nn.kernel 32 x 16
  // CHECK: nn.kernel 4 x 128
  %e = nn.exp %x : tensor<4x8x16xf32>
  %a = nn.reduce sum %e over [2] : tensor<4x8x16xf32>
  %b = nn.reduce max %e over [1, 2] : tensor<4x8x16xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4xf32>
}

// In a square space a vector used along rows and along columns is passed twice.
// CHECK-LABEL: func.func @square
func.func @square(%x: tensor<16x16xf32>, %v: tensor<16xf32>) -> tensor<16x16xf32> {
  // CHECK: nn.kernel 16 x 16 (%{{.*}} = %arg0 : tensor<16x16xf32>, %[[R:.*]] = %arg1 : tensor<16xf32> at <16, *16>, %[[C:.*]] = %arg1 : tensor<16xf32> at <*16, 16>)
  // CHECK: %[[S:.*]] = nn.reshape %[[R]] to [16, 1] {nn.pattern = #nn.pattern<16, *16>}
  // CHECK: nn.broadcast %[[S]]
  // CHECK: nn.broadcast %[[C]]
  %c = nn.reshape %v to [16, 1] : tensor<16xf32>
  %r = nn.broadcast %c to [16, 16] : tensor<16x1xf32>
  %b = nn.broadcast %v to [16, 16] : tensor<16xf32>
  %y = nn.mul %x, %r : tensor<16x16xf32>, tensor<16x16xf32>
  %z = nn.add %y, %b : tensor<16x16xf32>, tensor<16x16xf32>
  return %z : tensor<16x16xf32>
}

// Sums of everything: the mean of row losses is an output of the kernel that makes them; scalars that follow are apart.
// CHECK-LABEL: func.func @loss
func.func @loss(%x: tensor<64x32xf32>, %norm: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[SUM:.*]] = nn.kernel 64 x 32
  // CHECK: nn.reduce sum %{{.*}} over [1] {nn.pattern = #nn.pattern<64, *32>}
  // CHECK: nn.reduce sum %{{.*}} over [0] {nn.pattern = #nn.pattern<*2048>}
  // CHECK: nn.kernel 1 x 1 (%{{.*}} = %[[SUM]] : tensor<f32>
  %s = nn.reduce sum %x over [1] : tensor<64x32xf32>
  %t = nn.reduce sum %s over [0] : tensor<64xf32>
  %r = nn.div %t, %norm : tensor<f32>, tensor<f32>
  return %r : tensor<f32>
}

// A sum of everything has the order of one row of all elements, so it does not join rows.
// CHECK-LABEL: func.func @sumOfEverything
func.func @sumOfEverything(%x: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<f32>) {
  // CHECK: nn.kernel 64 x 32
  // CHECK-NEXT: nn.reduce sum %{{.*}} over [1]
  // CHECK-NEXT: nn.yield
  // CHECK: nn.kernel 1 x 2048
  // CHECK-NEXT: nn.reduce sum %{{.*}} over [0, 1]
  %s = nn.reduce sum %x over [1] : tensor<64x32xf32>
  %t = nn.reduce sum %x over [0, 1] : tensor<64x32xf32>
  return %s, %t : tensor<64xf32>, tensor<f32>
}

// Reductions of inner dimensions are brought to the end first.
// CHECK-LABEL: func.func @innerReduction
func.func @innerReduction(%x: tensor<4x8x16xf32>, %y: tensor<2x4x8xf32>) -> (tensor<4x16xf32>, tensor<4xf32>) {
  // CHECK: %[[T:.*]] = nn.transpose %arg0 by [0, 2, 1]
  // CHECK: nn.kernel 64 x 8 (%{{.*}} = %[[T]]
  // CHECK: nn.reduce sum %{{.*}} over [2]
  // CHECK: %[[R:.*]] = nn.kernel 8 x 8
  // CHECK: nn.kernel 2 x 4 (%{{.*}} = %[[R]]
  // CHECK: nn.reduce max %{{.*}} over [0]
  %a = nn.reduce sum %x over [1] : tensor<4x8x16xf32>
  %b = nn.reduce max %y over [0, 2] : tensor<2x4x8xf32>
  return %a, %b : tensor<4x16xf32>, tensor<4xf32>
}
