// RUN: trainc-opt %s --canonicalize | FileCheck %s

// Products transpose on the way.

// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x5xf32>, %[[W:.*]]: tensor<4x3xf32>)
// CHECK-NEXT: nn.matmul %[[X]] transposed, %[[W]] transposed : tensor<2x3x5xf32>, tensor<4x3xf32>
func.func @transposed(%x: tensor<2x3x5xf32>, %w: tensor<4x3xf32>) -> tensor<2x5x4xf32> {
  %a = nn.transpose %x by [0, 2, 1] : tensor<2x3x5xf32>
  %b = nn.transpose %w by [1, 0] : tensor<4x3xf32>
  %c = nn.matmul %a, %b : tensor<2x5x3xf32>, tensor<3x4xf32>
  return %c : tensor<2x5x4xf32>
}

// The batch is permuted too: that the library cannot do.
// CHECK-LABEL: func.func @permuted
// CHECK: nn.transpose
func.func @permuted(%x: tensor<2x3x5xf32>, %w: tensor<3x4xf32>) -> tensor<5x2x4xf32> {
  %a = nn.transpose %x by [2, 0, 1] : tensor<2x3x5xf32>
  %c = nn.matmul %a, %w : tensor<5x2x3xf32>, tensor<3x4xf32>
  return %c : tensor<5x2x4xf32>
}
