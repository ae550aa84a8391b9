// RUN: trainc-opt %s --autodiff -split-input-file -verify-diagnostics | FileCheck %s

// Values that are differentiated, and values that are not.

// Frozen parameters, other states and integers are constants.
train.state parameter @w : tensor<4xf32>
train.state parameter frozen @f : tensor<4xf32>
train.state output @o : tensor<4xf32>
// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[W:.*]] = train.get @w
  %w = train.get @w : tensor<4xf32>
  // CHECK: %[[F:.*]] = train.get @f
  %f = train.get @f : tensor<4xf32>
  %o = train.get @o : tensor<4xf32>
  %i = nn.convert %w to i32 : tensor<4xf32>
  %j = nn.convert %i to f32 : tensor<4xi32>
  // CHECK: %[[Q:.*]] = nn.exp %[[F]]
  %q = nn.exp %f : tensor<4xf32>
  %a = nn.mul %w, %q : tensor<4xf32>, tensor<4xf32>
  %b = nn.mul %a, %j : tensor<4xf32>, tensor<4xf32>
  %c = nn.add %b, %o : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %c over [0] : tensor<4xf32>
  train.minimize %l : tensor<f32>
  // CHECK: %[[D:.*]] = nn.broadcast %{{.*}} to [4]
  // CHECK-NEXT: %[[E:.*]] = nn.mul %[[D]], %{{.*}}
  // CHECK-NEXT: %[[G:.*]] = nn.mul %[[E]], %[[Q]]
  // CHECK-NEXT: train.gradient @w, %[[G]]
  // CHECK-NOT: train.gradient
}

// -----

// Two reads of one parameter, and two uses of a value: contributions are summed, those of later uses first.
train.state parameter @w : tensor<4xf32>
// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  %w = train.get @w : tensor<4xf32>
  %v = train.get @w : tensor<4xf32>
  // CHECK: %[[A:.*]] = nn.exp
  %a = nn.exp %w : tensor<4xf32>
  // CHECK: %[[B:.*]] = nn.tanh %[[A]]
  %b = nn.tanh %a : tensor<4xf32>
  // CHECK: %[[C:.*]] = nn.sigmoid %[[A]]
  %c = nn.sigmoid %a : tensor<4xf32>
  %d = nn.add %b, %c : tensor<4xf32>, tensor<4xf32>
  %e = nn.add %d, %v : tensor<4xf32>, tensor<4xf32>
  %l = nn.reduce sum %e over [0] : tensor<4xf32>
  train.minimize %l : tensor<f32>
  // CHECK: %[[G:.*]] = nn.broadcast %{{.*}} to [4]
  // CHECK: nn.sub %{{.*}}, %[[C]]
  // CHECK: %[[GC:.*]] = nn.mul %[[G]]
  // CHECK: nn.square %[[B]]
  // CHECK: %[[GB:.*]] = nn.mul %[[G]]
  // CHECK: %[[GA:.*]] = nn.add %[[GC]], %[[GB]]
  // CHECK: %[[GW:.*]] = nn.mul %[[GA]], %[[A]]
  // CHECK: %[[SUM:.*]] = nn.add %[[GW]], %[[G]]
  // CHECK: train.gradient @w, %[[SUM]]
}

// -----

train.state parameter @w : tensor<f32>
train.state parameter @unused : tensor<f32>
// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  %w = train.get @w : tensor<f32>
  // expected-warning @+1 {{parameter @unused does not lead to the loss and is not trained}}
  %u = train.get @unused : tensor<f32>
  train.minimize %w : tensor<f32>
  // CHECK: train.gradient @w
  // CHECK-NOT: train.gradient @unused
}

// -----

train.state parameter @w : tensor<f32>
// expected-warning @+1 {{parameter @unread does not lead to the loss and is not trained}}
train.state parameter @unread : tensor<f32>
train.state parameter frozen @frozen : tensor<f32>
// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  %w = train.get @w : tensor<f32>
  train.minimize %w : tensor<f32>
  // CHECK: train.gradient @w
  // CHECK-NOT: train.gradient
}
