// RUN: trainc-opt %s --autodiff | FileCheck %s

// A two-layer network: gradients in reverse order, weights' gradients as products, a bias's as a column sum.

train.state parameter @w1 : tensor<4x3xf32>
train.state parameter @b1 : tensor<4xf32>
train.state parameter @w2 : tensor<4x2xf32>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[X:.*]] = train.input
  %x = train.input "x" micro : tensor<8x3xf32>
  %w1 = train.get @w1 : tensor<4x3xf32>
  %b1 = train.get @b1 : tensor<4xf32>
  // CHECK: %[[W2:.*]] = train.get @w2
  %w2 = train.get @w2 : tensor<4x2xf32>
  %h = nn.matmul %x, %w1 transposed : tensor<8x3xf32>, tensor<4x3xf32>
  %b = nn.broadcast %b1 to [8, 4] : tensor<4xf32>
  %s = nn.add %h, %b : tensor<8x4xf32>, tensor<8x4xf32>
  // CHECK: %[[A:.*]] = nn.relu
  %a = nn.relu %s : tensor<8x4xf32>
  %y = nn.matmul %a, %w2 : tensor<8x4xf32>, tensor<4x2xf32>
  // CHECK: %[[L:.*]] = nn.reduce sum
  %l = nn.reduce sum %y over [0, 1] : tensor<8x2xf32>
  train.minimize %l : tensor<f32>
}
// CHECK: %[[ONE:.*]] = nn.constant 1 : tensor<f32>
// CHECK: %[[R:.*]] = nn.reshape %[[ONE]] to [1, 1]
// CHECK: %[[DY:.*]] = nn.broadcast %[[R]] to [8, 2]
// CHECK: %[[DA:.*]] = nn.matmul %[[DY]], %[[W2]] transposed
// CHECK: %[[DW2:.*]] = nn.matmul %[[A]] transposed, %[[DY]]
// CHECK: %[[ZERO:.*]] = nn.constant 0
// CHECK: %[[OFF:.*]] = nn.compare le %[[A]], %[[ZERO]]
// CHECK: %[[DS:.*]] = nn.select %[[OFF]], %[[ZERO]], %[[DA]]
// CHECK: %[[DB:.*]] = nn.reduce sum %[[DS]] over [0]
// The input needs no cotangent, so the first layer has one product only.
// CHECK-NEXT: %[[DW1:.*]] = nn.matmul %[[DS]] transposed, %[[X]]
// CHECK-NEXT: train.gradient @w1, %[[DW1]]
// CHECK-NEXT: train.gradient @b1, %[[DB]]
// CHECK-NEXT: train.gradient @w2, %[[DW2]]
// CHECK-NOT: train.minimize
