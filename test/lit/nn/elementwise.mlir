// RUN: trainc-opt %s | FileCheck %s
// RUN: trainc-opt %s | trainc-opt | FileCheck %s
// RUN: trainc-opt %s --mlir-print-op-generic | trainc-opt | FileCheck %s

// Syntax of elementwise ops, with spelled types.

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<2x3xf32>) {
  // CHECK: nn.neg %{{.*}} : tensor<2x3xf32>
  %0 = nn.neg %x : tensor<2x3xf32>
  // CHECK: nn.abs %{{.*}} : tensor<2x3xf32>
  %1 = nn.abs %x : tensor<2x3xf32>
  // CHECK: nn.exp %{{.*}} : tensor<2x3xf32>
  %2 = nn.exp %x : tensor<2x3xf32>
  // CHECK: nn.log %{{.*}} : tensor<2x3xf32>
  %3 = nn.log %x : tensor<2x3xf32>
  // CHECK: nn.sqrt %{{.*}} : tensor<2x3xf32>
  %4 = nn.sqrt %x : tensor<2x3xf32>
  // CHECK: nn.rsqrt %{{.*}} : tensor<2x3xf32>
  %5 = nn.rsqrt %x : tensor<2x3xf32>
  // CHECK: nn.reciprocal %{{.*}} : tensor<2x3xf32>
  %6 = nn.reciprocal %x : tensor<2x3xf32>
  // CHECK: nn.sin %{{.*}} : tensor<2x3xf32>
  %7 = nn.sin %x : tensor<2x3xf32>
  // CHECK: nn.cos %{{.*}} : tensor<2x3xf32>
  %8 = nn.cos %x : tensor<2x3xf32>
  // CHECK: nn.tanh %{{.*}} : tensor<2x3xf32>
  %9 = nn.tanh %x : tensor<2x3xf32>
  // CHECK: nn.erf %{{.*}} : tensor<2x3xf32>
  %10 = nn.erf %x : tensor<2x3xf32>
  // CHECK: nn.sigmoid %{{.*}} : tensor<2x3xf32>
  %11 = nn.sigmoid %x : tensor<2x3xf32>
  // CHECK: nn.relu %{{.*}} : tensor<2x3xf32>
  %12 = nn.relu %x : tensor<2x3xf32>
  // CHECK: nn.silu %{{.*}} : tensor<2x3xf32>
  %13 = nn.silu %x : tensor<2x3xf32>
  // CHECK: nn.square %{{.*}} : tensor<2x3xf32>
  %14 = nn.square %x : tensor<2x3xf32>
  // CHECK: nn.gelu %{{.*}} : tensor<2x3xf32>
  %15 = nn.gelu %x : tensor<2x3xf32>
  // CHECK: nn.gelu %{{.*}} approximate tanh : tensor<2x3xf32>
  %16 = nn.gelu %x approximate tanh : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<4xi32>) -> tensor<4xf32> {
  // CHECK: nn.add %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %0 = nn.add %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: nn.sub
  %1 = nn.sub %0, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: nn.mul
  %2 = nn.mul %1, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: nn.div
  %3 = nn.div %2, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: nn.max
  %4 = nn.max %3, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: nn.min
  %5 = nn.min %4, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: nn.add %{{.*}} : tensor<4xi32>, tensor<4xi32>
  %6 = nn.add %i, %i : tensor<4xi32>, tensor<4xi32>
  // CHECK: nn.compare lt %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %7 = nn.compare lt %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: nn.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  %8 = nn.select %7, %5, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  // CHECK: nn.convert %{{.*}} to f32 : tensor<4xi32>
  %9 = nn.convert %6 to f32 : tensor<4xi32>
  %10 = nn.add %8, %9 : tensor<4xf32>, tensor<4xf32>
  return %10 : tensor<4xf32>
}

// CHECK-LABEL: func.func @nullary
func.func @nullary(%seed: tensor<i64>, %step: tensor<i64>, %offset: tensor<i64>) {
  // CHECK: nn.constant 0.5 : tensor<2x3xf32>
  %0 = nn.constant 0.5 : tensor<2x3xf32>
  // CHECK: nn.constant -1 : tensor<i64>
  %1 = nn.constant -1 : tensor<i64>
  // CHECK: nn.iota 1 : tensor<2x3xi32>
  %2 = nn.iota 1 : tensor<2x3xi32>
  // CHECK: nn.random stream 7 seed %{{.*}} step %{{.*}} offset %{{.*}} : tensor<4x4xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  %3 = nn.random stream 7 seed %seed step %step offset %offset : tensor<4x4xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  // CHECK: nn.random normal stream -3 seed
  %4 = nn.random normal stream -3 seed %seed step %step offset %offset : tensor<4x4xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  return
}
