// RUN: trainc-opt %s --canonicalize | FileCheck %s

// Products transpose on the way, and sums of products are accumulated in place.

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

// CHECK-LABEL: func.func @argument(
// CHECK-SAME: %[[X:.*]]: tensor<5x3xf32>, %[[Y:.*]]: tensor<3x4xf32>, %[[G:.*]]: tensor<5x4xf32>)
// CHECK-NEXT: %[[P:.*]] = nn.matmul %[[X]], %[[Y]] accumulate %[[G]] : tensor<5x4xf32> : tensor<5x3xf32>, tensor<3x4xf32>
// CHECK-NEXT: return %[[P]]
func.func @argument(%x: tensor<5x3xf32>, %y: tensor<3x4xf32>, %g: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %p = nn.matmul %x, %y : tensor<5x3xf32>, tensor<3x4xf32>
  %s = nn.add %g, %p : tensor<5x4xf32>, tensor<5x4xf32>
  return %s : tensor<5x4xf32>
}

// The gradient of a tied embedding: rows are added to the product, and both to what is there.
// CHECK-LABEL: func.func @tied(
// CHECK-SAME: %[[G:[^:]*]]: tensor<10x3xf32>,
// CHECK: %[[P:.*]] = nn.matmul %{{.*}} transposed, %{{.*}} accumulate %[[G]]
// CHECK: %[[S:.*]] = nn.scatter_add %{{.*}} into %[[P]] at
// CHECK: return %[[S]]
func.func @tied(%g: tensor<10x3xf32>, %dlogits: tensor<5x10xf32>, %h: tensor<5x3xf32>, %ids: tensor<5xi32>, %rows: tensor<5x3xf32>) -> tensor<10x3xf32> {
  %p = nn.matmul %dlogits transposed, %h : tensor<5x10xf32>, tensor<5x3xf32>
  %zero = nn.constant 0 : tensor<10x3xf32>
  %r = nn.scatter_add %rows into %zero at %ids : tensor<5x3xf32>, tensor<10x3xf32>, tensor<5xi32>
  %sum = nn.add %p, %r : tensor<10x3xf32>, tensor<10x3xf32>
  %total = nn.add %g, %sum : tensor<10x3xf32>, tensor<10x3xf32>
  return %total : tensor<10x3xf32>
}

// A bias is better added while the product is read.
// CHECK-LABEL: func.func @bias
// CHECK: nn.matmul %{{.*}}, %{{.*}} : tensor<5x3xf32>, tensor<3x4xf32>
// CHECK: nn.add
func.func @bias(%x: tensor<5x3xf32>, %y: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<5x4xf32> {
  %p = nn.matmul %x, %y : tensor<5x3xf32>, tensor<3x4xf32>
  %c = nn.broadcast %b to [5, 4] : tensor<4xf32>
  %s = nn.add %p, %c : tensor<5x4xf32>, tensor<5x4xf32>
  return %s : tensor<5x4xf32>
}

// The product is needed by itself.
// CHECK-LABEL: func.func @used_twice
// CHECK: nn.add
func.func @used_twice(%x: tensor<5x3xf32>, %y: tensor<3x4xf32>, %g: tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<5x4xf32>) {
  %p = nn.matmul %x, %y : tensor<5x3xf32>, tensor<3x4xf32>
  %s = nn.add %g, %p : tensor<5x4xf32>, tensor<5x4xf32>
  return %s, %p : tensor<5x4xf32>, tensor<5x4xf32>
}
