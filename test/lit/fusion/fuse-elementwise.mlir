// RUN: trainc-opt %s --fuse | FileCheck %s

// A chain is one kernel of one flat row; the value used twice is written once.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK: %[[K:.*]]:2 = nn.kernel 1 x 128 (%[[A:.*]] = %arg0 : tensor<8x16xf32>, %[[B:.*]] = %arg1 : tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK-NEXT: %[[SUM:.*]] = nn.add %[[A]], %[[B]]
  // CHECK-NEXT: %[[EXP:.*]] = nn.exp %[[SUM]]
  // CHECK-NEXT: %[[OUT:.*]] = nn.mul %[[EXP]], %[[SUM]]
  // CHECK-NEXT: nn.yield %[[EXP]], %[[OUT]]
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[K]]#0, %[[K]]#1
  %a = nn.add %x, %y : tensor<8x16xf32>, tensor<8x16xf32>
  %e = nn.exp %a : tensor<8x16xf32>
  %m = nn.mul %e, %a : tensor<8x16xf32>, tensor<8x16xf32>
  return %e, %m : tensor<8x16xf32>, tensor<8x16xf32>
}

// Constants and broadcasts of scalars are computed in each kernel that uses them; the scalar itself is computed once.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%x: tensor<8x16xf32>, %y: tensor<4xf32>, %s: tensor<f32>) -> (tensor<8x16xf32>, tensor<4xf32>) {
  // CHECK: %[[S:.*]] = nn.kernel 1 x 1
  // CHECK-NEXT: nn.sqrt
  // CHECK: nn.kernel 1 x 128 (%{{.*}} = %arg0 : tensor<8x16xf32>, %[[T:.*]] = %[[S]] : tensor<f32> at <*128>)
  // CHECK: nn.broadcast %[[T]] to [8, 16]
  // CHECK: nn.constant 2
  // CHECK: nn.kernel 1 x 4 (%{{.*}} = %arg1 : tensor<4xf32>, %[[U:.*]] = %[[S]] : tensor<f32> at <*4>)
  // CHECK: nn.broadcast %[[U]] to [4]
  %r = nn.sqrt %s : tensor<f32>
  %rx = nn.broadcast %r to [8, 16] : tensor<f32>
  %two = nn.constant 2.0 : tensor<8x16xf32>
  %p = nn.mul %x, %rx : tensor<8x16xf32>, tensor<8x16xf32>
  %q = nn.add %p, %two : tensor<8x16xf32>, tensor<8x16xf32>
  %ry = nn.broadcast %r to [4] : tensor<f32>
  %z = nn.mul %y, %ry : tensor<4xf32>, tensor<4xf32>
  return %q, %z : tensor<8x16xf32>, tensor<4xf32>
}

// A library op between two elementwise ops keeps them apart: one kernel of both would depend on itself.
// CHECK-LABEL: func.func @cycle
func.func @cycle(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: %[[A:.*]] = nn.kernel 1 x 256
  // CHECK: nn.exp
  // CHECK: %[[B:.*]] = nn.matmul %[[A]], %[[A]]
  // CHECK: nn.kernel 1 x 256 (%{{.*}} = %[[B]] : tensor<16x16xf32>, %{{.*}} = %[[A]] : tensor<16x16xf32>)
  // CHECK: nn.add
  %a = nn.exp %x : tensor<16x16xf32>
  %b = nn.matmul %a, %a : tensor<16x16xf32>, tensor<16x16xf32>
  %c = nn.add %b, %a : tensor<16x16xf32>, tensor<16x16xf32>
  return %c : tensor<16x16xf32>
}

// Random masks are drawn again in the backward instead of being kept.
// CHECK-LABEL: func.func @dropout
func.func @dropout(%x: tensor<16x16xf32>, %seed: tensor<i64>, %step: tensor<i64>, %micro: tensor<i64>) -> tensor<16x16xf32> {
  // CHECK: nn.kernel
  // CHECK: nn.random
  // CHECK: nn.matmul
  // CHECK: nn.kernel
  // CHECK: nn.random
  // CHECK: return
  %r = nn.random stream 7 seed %seed step %step offset %micro : tensor<16x16xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  %p = nn.constant 0.1 : tensor<16x16xf32>
  %keep = nn.compare ge %r, %p : tensor<16x16xf32>, tensor<16x16xf32>
  %zero = nn.constant 0.0 : tensor<16x16xf32>
  %y = nn.select %keep, %x, %zero : tensor<16x16xi1>, tensor<16x16xf32>, tensor<16x16xf32>
  %m = nn.matmul %y, %x : tensor<16x16xf32>, tensor<16x16xf32>
  %d = nn.select %keep, %m, %zero : tensor<16x16xi1>, tensor<16x16xf32>, tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}

// Reshapes cost nothing within kernels, and stay as aliases between them and library ops.
// CHECK-LABEL: func.func @reshapes
func.func @reshapes(%x: tensor<2x8x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: %[[K:.*]] = nn.kernel 1 x 256
  // CHECK: %[[R:.*]] = nn.reshape %[[K]] to [16, 16]
  // CHECK: nn.matmul %[[R]], %arg1
  %a = nn.exp %x : tensor<2x8x16xf32>
  %f = nn.reshape %a to [16, 16] : tensor<2x8x16xf32>
  %b = nn.neg %f : tensor<16x16xf32>
  %u = nn.reshape %b to [2, 8, 16] : tensor<16x16xf32>
  %c = nn.add %u, %x : tensor<2x8x16xf32>, tensor<2x8x16xf32>
  %r = nn.reshape %c to [16, 16] : tensor<2x8x16xf32>
  %m = nn.matmul %r, %w : tensor<16x16xf32>, tensor<16x16xf32>
  return %m : tensor<16x16xf32>
}

// A kernel of its own writes each operand of a library op, except zeros: each op that may overwrite them gets its own zero fill.
// CHECK-LABEL: func.func @libraryOperands
func.func @libraryOperands(%x: tensor<16x16xf32>, %ids: tensor<16xi32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  // CHECK: %[[ONES:.*]] = nn.kernel 1 x 256 () -> (tensor<16x16xf32>) {
  // CHECK-NEXT: nn.constant 1
  // CHECK: %[[P:.*]] = nn.matmul %arg0, %[[ONES]]
  // CHECK: %[[Z:.*]] = nn.constant 0
  // CHECK-NEXT: nn.scatter_add %arg0 into %[[Z]]
  // CHECK: %[[Y:.*]] = nn.constant 0
  // CHECK-NEXT: nn.scatter_add %[[P]] into %[[Y]]
  %one = nn.constant 1.0 : tensor<16x16xf32>
  %zero = nn.constant 0.0 : tensor<16x16xf32>
  %p = nn.matmul %x, %one : tensor<16x16xf32>, tensor<16x16xf32>
  %s = nn.scatter_add %x into %zero at %ids : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xi32>
  %t = nn.scatter_add %p into %zero at %ids : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xi32>
  return %s, %t : tensor<16x16xf32>, tensor<16x16xf32>
}

// Kernels of one shape that read the same value are one, however small it is: that is a launch less.
// CHECK-LABEL: func.func @siblings
func.func @siblings(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[K:.*]]:2 = nn.kernel 1 x 8
  // CHECK-NOT: nn.kernel
  // CHECK: return %[[K]]#0, %[[K]]#1
  %a = nn.exp %x : tensor<8xf32>
  %b = nn.add %x, %y : tensor<8xf32>, tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
