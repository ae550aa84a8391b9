// RUN: trainc-opt %s --accumulate-in-place | FileCheck %s

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

// A loop that carries a sum of products starts from what is added to that, and rows are added to what it gives.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[G:[^:]*]]: tensor<10x3xf32>,
// CHECK-NOT: nn.constant
// CHECK: %[[C:.*]] = nn.chunks 2 ({{.*}}, %[[ACC:.*]] = %[[G]] : tensor<10x3xf32> carried)
// CHECK-NEXT: %[[P:.*]] = nn.matmul {{.*}} transposed, {{.*}} accumulate %[[ACC]]
// CHECK-NEXT: nn.yield %[[P]]
// CHECK: %[[S:.*]] = nn.scatter_add %{{.*}} into %[[C]] at
// CHECK-NEXT: return %[[S]]
func.func @loop(%g: tensor<10x3xf32>, %dlogits: tensor<4x10xf32>, %h: tensor<4x3xf32>, %ids: tensor<5xi32>, %rows: tensor<5x3xf32>) -> tensor<10x3xf32> {
  %zero = nn.constant 0 : tensor<10x3xf32>
  %p = nn.chunks 2 (%d = %dlogits : tensor<4x10xf32> split 0, %x = %h : tensor<4x3xf32> split 0, %acc = %zero : tensor<10x3xf32> carried)
      -> (tensor<10x3xf32> carried) {
    %q = nn.matmul %d transposed, %x : tensor<2x10xf32>, tensor<2x3xf32>
    %n = nn.add %acc, %q : tensor<10x3xf32>, tensor<10x3xf32>
    nn.yield %n : tensor<10x3xf32>
  }
  %zeros = nn.constant 0 : tensor<10x3xf32>
  %r = nn.scatter_add %rows into %zeros at %ids : tensor<5x3xf32>, tensor<10x3xf32>, tensor<5xi32>
  %sum = nn.add %p, %r : tensor<10x3xf32>, tensor<10x3xf32>
  %total = nn.add %g, %sum : tensor<10x3xf32>, tensor<10x3xf32>
  return %total : tensor<10x3xf32>
}

// A carried value that the body also reads is no sum.
// CHECK-LABEL: func.func @product
// CHECK: nn.chunks {{.*}} = %{{.*}} : tensor<3x3xf32> carried
// CHECK: nn.add
func.func @product(%g: tensor<3x3xf32>, %x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %zero = nn.constant 0 : tensor<3x3xf32>
  %p = nn.chunks 2 (%w = %x : tensor<3x3xf32>, %acc = %zero : tensor<3x3xf32> carried) -> (tensor<3x3xf32> carried) {
    %q = nn.matmul %acc, %w : tensor<3x3xf32>, tensor<3x3xf32>
    nn.yield %q : tensor<3x3xf32>
  }
  %total = nn.add %g, %p : tensor<3x3xf32>, tensor<3x3xf32>
  return %total : tensor<3x3xf32>
}

// The op `train.block_use`, the boundary of a block, reads nothing.
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[S:.*]] = nn.matmul %{{.*}}, %{{.*}} accumulate %{{.*}} : tensor<3x3xf32> : tensor<3x3xf32>, tensor<3x3xf32>
// CHECK-NEXT: train.block_use <"h.0", "layer"> from %{{.*}} to %[[S]]
// CHECK-NEXT: train.set @w, %[[S]]
train.state parameter @w : tensor<3x3xf32>
train.entry @micro_step {
  %w = train.get @w : tensor<3x3xf32>
  %p = nn.matmul %w, %w : tensor<3x3xf32>, tensor<3x3xf32>
  train.block_use <"h.0", "layer"> from %w to %p : tensor<3x3xf32> to tensor<3x3xf32>
  %s = nn.add %w, %p : tensor<3x3xf32>, tensor<3x3xf32>
  train.set @w, %s : tensor<3x3xf32>
}
