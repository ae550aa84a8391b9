// RUN: trainc-opt %s | FileCheck %s
// RUN: trainc-opt %s | trainc-opt | FileCheck %s
// RUN: trainc-opt %s --mlir-print-op-generic | trainc-opt | FileCheck %s

// Ops that change shapes; the function's result types check what is inferred.

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<2x3x4xf32>) -> (tensor<2x4xf32>, tensor<2x3x1xf32>, tensor<f32>, tensor<4xf32>) {
  // CHECK: nn.reduce sum %{{.*}} over [1] : tensor<2x3x4xf32>
  %0 = nn.reduce sum %x over [1] : tensor<2x3x4xf32>
  // CHECK: nn.reduce max %{{.*}} over [-1] keep : tensor<2x3x4xf32>
  %1 = nn.reduce max %x over [-1] keep : tensor<2x3x4xf32>
  // CHECK: nn.reduce mean %{{.*}} over [0, 1, 2] : tensor<2x3x4xf32>
  %2 = nn.reduce mean %x over [0, 1, 2] : tensor<2x3x4xf32>
  // CHECK: nn.reduce min %{{.*}} over [0, 1] : tensor<2x3x4xf32>
  %3 = nn.reduce min %x over [0, 1] : tensor<2x3x4xf32>
  return %0, %1, %2, %3 : tensor<2x4xf32>, tensor<2x3x1xf32>, tensor<f32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @move
func.func @move(%x: tensor<2x3x4xf32>, %s: tensor<f32>, %r: tensor<3x1xf32>)
    -> (tensor<2x3xf32>, tensor<2x3x4xf32>, tensor<2x12xf32>, tensor<4x2x3xf32>, tensor<2x2x4xf32>, tensor<2x3x7xf32>, tensor<2x6x4xf32>) {
  // CHECK: nn.broadcast %{{.*}} to [2, 3] : tensor<f32>
  %0 = nn.broadcast %s to [2, 3] : tensor<f32>
  // CHECK: nn.broadcast %{{.*}} to [2, 3, 4] : tensor<3x1xf32>
  %1 = nn.broadcast %r to [2, 3, 4] : tensor<3x1xf32>
  // CHECK: nn.reshape %{{.*}} to [0, -1] : tensor<2x3x4xf32>
  %2 = nn.reshape %x to [0, -1] : tensor<2x3x4xf32>
  // CHECK: nn.transpose %{{.*}} by [2, 0, 1] : tensor<2x3x4xf32>
  %3 = nn.transpose %x by [2, 0, 1] : tensor<2x3x4xf32>
  // CHECK: nn.slice %{{.*}} dim 1 from 1 size 2 : tensor<2x3x4xf32>
  %4 = nn.slice %x dim 1 from 1 size 2 : tensor<2x3x4xf32>
  // CHECK: nn.pad %{{.*}} dim -1 low 1 high 2 : tensor<2x3x4xf32>
  %5 = nn.pad %x dim -1 low 1 high 2 : tensor<2x3x4xf32>
  // CHECK: nn.concat dim 1 %{{.*}}, %{{.*}} : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  %6 = nn.concat dim 1 %x, %x : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3xf32>, tensor<2x3x4xf32>, tensor<2x12xf32>, tensor<4x2x3xf32>, tensor<2x2x4xf32>, tensor<2x3x7xf32>, tensor<2x6x4xf32>
}
