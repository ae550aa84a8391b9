// RUN: trainc-opt %s --chunk-loss="min-bytes=16384 min-rows=16" --accumulate-in-place | FileCheck %s

// Scores, loss, gradient and both products are one loop; rows spread over two dimensions are cut as one run, and the
// gradient of the table starts from what is added to it.
// CHECK-LABEL: func.func @training
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x16x8xf32>, %[[W:[a-z0-9]+]]: tensor<100x8xf32>, %[[L:[a-z0-9]+]]: tensor<4x16xi32>, %[[S:[a-z0-9]+]]: tensor<f32>, %[[G:[a-z0-9]+]]: tensor<100x8xf32>
func.func @training(%x: tensor<4x16x8xf32>, %w: tensor<100x8xf32>, %labels: tensor<4x16xi32>, %scale: tensor<f32>, %g: tensor<100x8xf32>)
    -> (tensor<f32>, tensor<4x16x8xf32>, tensor<100x8xf32>) {
  // CHECK: %[[C:.*]]:3 = nn.chunks 4 ({{.*}} = %[[X]] : tensor<4x16x8xf32> split 0
  // CHECK-SAME: = %[[W]] : tensor<100x8xf32>
  // CHECK-SAME: = %[[L]] : tensor<4x16xi32> split 0
  // CHECK-SAME: %[[ACC:[a-z0-9]+]] = %[[G]] : tensor<100x8xf32> carried
  // CHECK-SAME: -> (tensor<4x16xf32> split 0, tensor<4x16x8xf32> split 0, tensor<100x8xf32> carried) {
  // CHECK: nn.matmul {{.*}} transposed{{.*}}: tensor<1x16x8xf32>, tensor<100x8xf32>
  // CHECK: nn.cross_entropy {{.*}}: tensor<1x16x100xf32>, tensor<1x16xi32>
  // CHECK: nn.iota 2{{.*}}: tensor<1x16x100xi32>
  // CHECK: nn.matmul {{.*}} reduce_batch accumulate %[[ACC]]
  // CHECK: nn.yield
  // CHECK: }
  // CHECK: %[[LOSS:.*]] = nn.reduce sum %[[C]]#0 over [0, 1]
  // CHECK: return %[[LOSS]], %[[C]]#1, %[[C]]#2
  %scores = nn.matmul %x, %w transposed : tensor<4x16x8xf32>, tensor<100x8xf32>
  %nll, %lse = nn.cross_entropy %scores, %labels : tensor<4x16x100xf32>, tensor<4x16xi32>
  %loss = nn.reduce sum %nll over [0, 1] : tensor<4x16xf32>
  %column = nn.reshape %lse to [4, 16, 1] : tensor<4x16xf32>
  %repeated = nn.broadcast %column to [4, 16, 100] : tensor<4x16x1xf32>
  %difference = nn.sub %scores, %repeated : tensor<4x16x100xf32>, tensor<4x16x100xf32>
  %p = nn.exp %difference : tensor<4x16x100xf32>
  %index = nn.iota 2 : tensor<4x16x100xi32>
  %target = nn.reshape %labels to [4, 16, 1] : tensor<4x16xi32>
  %targets = nn.broadcast %target to [4, 16, 100] : tensor<4x16x1xi32>
  %hit = nn.compare eq %index, %targets : tensor<4x16x100xi32>, tensor<4x16x100xi32>
  %one = nn.constant 1.0 : tensor<4x16x100xf32>
  %zero = nn.constant 0.0 : tensor<4x16x100xf32>
  %t = nn.select %hit, %one, %zero : tensor<4x16x100xi1>, tensor<4x16x100xf32>, tensor<4x16x100xf32>
  %d = nn.sub %p, %t : tensor<4x16x100xf32>, tensor<4x16x100xf32>
  %s = nn.broadcast %scale to [4, 16, 100] : tensor<f32>
  %dscores = nn.mul %d, %s : tensor<4x16x100xf32>, tensor<4x16x100xf32>
  %dx = nn.matmul %dscores, %w : tensor<4x16x100xf32>, tensor<100x8xf32>
  %sum = nn.matmul %dscores transposed, %x reduce_batch : tensor<4x16x100xf32>, tensor<4x16x8xf32>
  %dw = nn.add %g, %sum : tensor<100x8xf32>, tensor<100x8xf32>
  return %loss, %dx, %dw : tensor<f32>, tensor<4x16x8xf32>, tensor<100x8xf32>
}

// Evaluation has only the forward. Slices of 16 rows do not divide 66 rows: they grow until they do.
// CHECK-LABEL: func.func @evaluation
func.func @evaluation(%x: tensor<1x66x8xf32>, %w: tensor<100x8xf32>, %labels: tensor<1x66xi32>) -> tensor<1x66xf32> {
  // CHECK: nn.reshape %arg0 to [3, 22, 8]
  // CHECK: nn.reshape %arg2 to [3, 22]
  // CHECK: %[[C:.*]] = nn.chunks 3
  // CHECK: nn.matmul {{.*}}: tensor<1x22x8xf32>, tensor<100x8xf32>
  // CHECK: nn.reshape %[[C]] to [1, 66]
  %scores = nn.matmul %x, %w transposed : tensor<1x66x8xf32>, tensor<100x8xf32>
  %nll, %lse = nn.cross_entropy %scores, %labels : tensor<1x66x100xf32>, tensor<1x66xi32>
  return %nll : tensor<1x66xf32>
}

// One dimension of rows; a gradient that is not added to anything starts from zero.
// CHECK-LABEL: func.func @oneDimension
func.func @oneDimension(%x: tensor<64x8xf32>, %w: tensor<100x8xf32>, %labels: tensor<64xi32>) -> (tensor<64xf32>, tensor<8x100xf32>) {
  // CHECK: %[[Z:.*]] = nn.constant 0{{.*}}: tensor<8x100xf32>
  // CHECK: nn.chunks 4 ({{.*}} = %arg0 : tensor<64x8xf32> split 0, {{.*}}, {{.*}} = %[[Z]] : tensor<8x100xf32> carried)
  // CHECK: nn.matmul {{.*}}: tensor<16x8xf32>, tensor<100x8xf32>
  // CHECK: nn.matmul {{.*}} transposed, {{.*}} accumulate
  %scores = nn.matmul %x, %w transposed : tensor<64x8xf32>, tensor<100x8xf32>
  %nll, %lse = nn.cross_entropy %scores, %labels : tensor<64x100xf32>, tensor<64xi32>
  %p = nn.exp %scores : tensor<64x100xf32>
  %dw = nn.matmul %x transposed, %p : tensor<64x8xf32>, tensor<64x100xf32>
  return %nll, %dw : tensor<64xf32>, tensor<8x100xf32>
}

// A loss that is needed as a whole before its own gradient cannot be cut.
// CHECK-LABEL: func.func @dependent
func.func @dependent(%x: tensor<64x8xf32>, %w: tensor<100x8xf32>, %labels: tensor<64xi32>) -> tensor<64x8xf32> {
  // CHECK-NOT: nn.chunks
  %scores = nn.matmul %x, %w transposed : tensor<64x8xf32>, tensor<100x8xf32>
  %nll, %lse = nn.cross_entropy %scores, %labels : tensor<64x100xf32>, tensor<64xi32>
  %loss = nn.reduce sum %nll over [0] : tensor<64xf32>
  %s = nn.broadcast %loss to [64, 100] : tensor<f32>
  %d = nn.mul %scores, %s : tensor<64x100xf32>, tensor<64x100xf32>
  %dx = nn.matmul %d, %w : tensor<64x100xf32>, tensor<100x8xf32>
  return %dx : tensor<64x8xf32>
}

// Scores that are given out must exist as a whole.
// CHECK-LABEL: func.func @given
func.func @given(%scores: tensor<64x100xf32>, %labels: tensor<64xi32>) -> tensor<64xf32> {
  // CHECK-NOT: nn.chunks
  %nll, %lse = nn.cross_entropy %scores, %labels : tensor<64x100xf32>, tensor<64xi32>
  return %nll : tensor<64xf32>
}

// Small scores are left alone.
// CHECK-LABEL: func.func @small
func.func @small(%x: tensor<32x8xf32>, %w: tensor<100x8xf32>, %labels: tensor<32xi32>) -> tensor<32xf32> {
  // CHECK-NOT: nn.chunks
  %scores = nn.matmul %x, %w transposed : tensor<32x8xf32>, tensor<100x8xf32>
  %nll, %lse = nn.cross_entropy %scores, %labels : tensor<32x100xf32>, tensor<32xi32>
  return %nll : tensor<32xf32>
}

// With a single sample, the dimension of size 1 is no part of what is cut, in whatever way ops treat it.
// CHECK-LABEL: func.func @singleSample
func.func @singleSample(%x: tensor<1x64x8xf32>, %w: tensor<100x8xf32>, %labels: tensor<1x64xi32>, %scale: tensor<1x1x1xf32>)
    -> (tensor<1x64xf32>, tensor<1x64x8xf32>) {
  // CHECK: nn.chunks 4
  // CHECK: nn.reshape %{{.*}} to [1, 16, 1] : tensor<1x16xf32>
  // CHECK: nn.broadcast %{{.*}} to [1, 16, 100] : tensor<1x1x1xf32>
  // CHECK: nn.yield
  %scores = nn.matmul %x, %w transposed : tensor<1x64x8xf32>, tensor<100x8xf32>
  %nll, %lse = nn.cross_entropy %scores, %labels : tensor<1x64x100xf32>, tensor<1x64xi32>
  %column = nn.reshape %nll to [1, 64, 1] : tensor<1x64xf32>
  %b = nn.broadcast %column to [1, 64, 100] : tensor<1x64x1xf32>
  %s = nn.broadcast %scale to [1, 64, 100] : tensor<1x1x1xf32>
  %e = nn.sub %scores, %b : tensor<1x64x100xf32>, tensor<1x64x100xf32>
  %d = nn.mul %e, %s : tensor<1x64x100xf32>, tensor<1x64x100xf32>
  %dx = nn.matmul %d, %w : tensor<1x64x100xf32>, tensor<100x8xf32>
  return %nll, %dx : tensor<1x64xf32>, tensor<1x64x8xf32>
}
