// RUN: trainc-opt %s --autodiff --optimizer | FileCheck %s
// RUN: sed 's/ranks 2/ranks 2 sync_gradients micro_step/' %s | trainc-opt --autodiff --optimizer | FileCheck %s --check-prefix=EACH
// RUN: sed 's/ranks 2/ranks 2 reproducible ranks/' %s | trainc-opt --autodiff --optimizer | FileCheck %s --check-prefix=COUNTERS
// RUN: sed 's/ranks 2/precision fp32 reduce_type bf16/' %s | trainc-opt --autodiff --optimizer | FileCheck %s --check-prefix=ALONE

// Ranks that sum their gradients once a step do so where the last micro-batch has added its own, and use the sums there.

// CHECK-LABEL: train.entry @begin_step
// CHECK-COUNT-1: train.set @grad.w
// CHECK-NOT: train.set @grad.w

// CHECK-LABEL: train.entry @micro_step
// CHECK-NOT: sum_over_ranks
// CHECK: train.set @grad.w

// CHECK-LABEL: train.entry @last_micro_step
// CHECK: %[[OLD:.*]] = train.get @grad.w
// CHECK: train.input "x" micro
// CHECK: %[[SUM:.*]] = nn.add %[[OLD]], %{{.*}} : tensor<4x3xf32>
// CHECK-NEXT: train.set @grad.w, %[[SUM]]
// CHECK-NEXT: %[[ALL:.*]] = train.sum_over_ranks %[[SUM]] of @w
// CHECK: nn.square %[[ALL]]
// CHECK: train.set @w
// CHECK-NOT: train.entry @update

// EACH-NOT: train.entry @last_micro_step
// EACH: train.entry @update
// EACH-NOT: train.entry @last_micro_step

// One rank alone rounds its gradient as several ranks do, and marks it as the sum over ranks.
// ALONE-LABEL: train.entry @update
// ALONE: %[[SUM:.*]] = train.get @grad.w
// ALONE: %[[MARKED:.*]] = train.sum_over_ranks %[[SUM]] of @w
// ALONE: nn.square %[[MARKED]]

// COUNTERS-NOT: train.entry @last_micro_step
// COUNTERS: train.entry @update
// COUNTERS-NOT: train.entry @last_micro_step

train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 ranks 2 accumulate 4 }
train.state parameter @w : tensor<4x3xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<2x4xf32>
  %w = train.get @w : tensor<4x3xf32>
  %y = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x3xf32>
  %l = nn.reduce sum %y over [0, 1] : tensor<2x3xf32>
  train.minimize %l : tensor<f32>
}
