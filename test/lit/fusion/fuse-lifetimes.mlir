// RUN: trainc-opt %s --fuse | FileCheck %s

// The backward computes its values from values of the forward itself. The forward could compute them earlier, but they would be in memory
// from then on. Small sums are computed early.
// CHECK-LABEL: func.func @activation
func.func @activation(%h: tensor<64x512xf32>, %w: tensor<512x512xf32>) -> (tensor<64x512xf32>, tensor<64x512xf32>, tensor<512xf32>) {
  // CHECK: nn.kernel
  // CHECK-NEXT: nn.exp
  // CHECK-NEXT: nn.tanh
  // CHECK-NOT: nn.sigmoid
  // CHECK: nn.reduce
  // CHECK: nn.matmul
  // CHECK: nn.kernel
  // CHECK-NEXT: nn.sigmoid
  // CHECK-NEXT: nn.mul
  %x = nn.exp %h : tensor<64x512xf32>
  %y = nn.tanh %x : tensor<64x512xf32>
  %o = nn.matmul %y, %w : tensor<64x512xf32>, tensor<512x512xf32>
  %t = nn.sigmoid %x : tensor<64x512xf32>
  %d = nn.mul %o, %t : tensor<64x512xf32>, tensor<64x512xf32>
  %s = nn.reduce sum %x over [0] : tensor<64x512xf32>
  return %o, %d, %s : tensor<64x512xf32>, tensor<64x512xf32>, tensor<512xf32>
}

// The norm of a gradient, and an update that waits for a flag: its squares are recomputed, because half of the update in the norm's kernel
// would write its results to memory.
// CHECK-LABEL: func.func @norm
func.func @norm(%g: tensor<512x512xf32>, %v: tensor<512x512xf32>) -> (tensor<f32>, tensor<512x512xf32>) {
  // CHECK: nn.kernel
  // CHECK-NEXT: nn.square
  // CHECK-NEXT: nn.reduce sum
  // CHECK: nn.kernel
  // CHECK: nn.square
  // CHECK: nn.add
  // CHECK: nn.mul
  // CHECK-NOT: nn.kernel
  %s = nn.square %g : tensor<512x512xf32>
  %sum = nn.reduce sum %s over [0, 1] : tensor<512x512xf32>
  %u = nn.add %s, %v : tensor<512x512xf32>, tensor<512x512xf32>
  %b = nn.broadcast %sum to [512, 512] : tensor<f32>
  %d = nn.mul %u, %b : tensor<512x512xf32>, tensor<512x512xf32>
  return %sum, %d : tensor<f32>, tensor<512x512xf32>
}

// The scalar that scales the gradient does not wait for the loss: loss and gradient are one kernel.
// CHECK-LABEL: func.func @loss
func.func @loss(%x: tensor<512x512xf32>, %n: tensor<f32>) -> (tensor<f32>, tensor<512x512xf32>) {
  // CHECK: %[[R:.*]] = nn.kernel 1 x 1
  // CHECK-NEXT: nn.reciprocal
  // CHECK: nn.kernel {{.*}} = %[[R]] : tensor<f32>
  // CHECK: nn.reduce sum
  // CHECK: nn.kernel 1 x 1
  // CHECK-NEXT: nn.mul
  // CHECK-NOT: nn.kernel
  %r = nn.reciprocal %n : tensor<f32>
  %sum = nn.reduce sum %x over [0, 1] : tensor<512x512xf32>
  %loss = nn.mul %sum, %r : tensor<f32>, tensor<f32>
  %b = nn.broadcast %r to [512, 512] : tensor<f32>
  %d = nn.mul %x, %b : tensor<512x512xf32>, tensor<512x512xf32>
  return %loss, %d : tensor<f32>, tensor<512x512xf32>
}
