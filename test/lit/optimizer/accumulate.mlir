// RUN: trainc-opt %s --autodiff --optimizer | FileCheck %s
// RUN: trainc-opt %s --autodiff --optimizer --canonicalize --accumulate-in-place | FileCheck %s --check-prefix=INPLACE

// Several micro-batches a step: gradients are summed in states, and an entry of its own updates.

train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 accumulate 4 }
train.state parameter @w : tensor<4x3xf32>
train.state parameter @b : tensor<3xf32>

// CHECK: train.state gradient @grad.w : tensor<4x3xf32>
// CHECK: train.state gradient @grad.b : tensor<3xf32>

// CHECK-LABEL: train.entry @begin_step
// CHECK: %[[Z:.*]] = nn.constant 0 : tensor<4x3xf32>
// CHECK: train.set @grad.w, %[[Z]]
// CHECK: train.set @grad.b

// The sum is read first and written where the gradient is known.
// CHECK-LABEL: train.entry @micro_step
// CHECK-DAG: %[[OLD:.*]] = train.get @grad.w
// CHECK-DAG: %[[OLDB:.*]] = train.get @grad.b
// CHECK: %[[GB:.*]] = nn.reduce sum %{{.*}} over [0] : tensor<2x3xf32>
// CHECK-NEXT: %[[SB:.*]] = nn.add %[[OLDB]], %[[GB]]
// CHECK-NEXT: train.set @grad.b, %[[SB]]
// CHECK: %[[G:.*]] = nn.matmul %{{.*}} transposed
// CHECK-NEXT: %[[S:.*]] = nn.add %[[OLD]], %[[G]]
// CHECK-NEXT: train.set @grad.w, %[[S]]
// CHECK-NOT: train.set @w

// CHECK-LABEL: train.entry @update
// CHECK: %[[G:.*]] = train.get @grad.w
// CHECK: nn.square %[[G]]
// CHECK: train.set @grad_norm
// CHECK: train.set @finite
// CHECK: train.set @w
// CHECK: train.set @b

// The product adds to the state by itself.
// INPLACE-LABEL: train.entry @micro_step
// INPLACE: %[[OLD:.*]] = train.get @grad.w
// INPLACE: %[[S:.*]] = nn.matmul %{{.*}} transposed, %{{.*}} accumulate %[[OLD]]
// INPLACE-NEXT: train.set @grad.w, %[[S]]
train.entry @micro_step {
  %x = train.input "x" micro : tensor<2x4xf32>
  %w = train.get @w : tensor<4x3xf32>
  %b = train.get @b : tensor<3xf32>
  %y = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x3xf32>
  %c = nn.broadcast %b to [2, 3] : tensor<3xf32>
  %z = nn.add %y, %c : tensor<2x3xf32>, tensor<2x3xf32>
  %l = nn.reduce sum %z over [0, 1] : tensor<2x3xf32>
  train.minimize %l : tensor<f32>
}
