// RUN: trainc-opt %s --optimizer -split-input-file | FileCheck %s

// Plain SGD: no states of its own, no clipping.
train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 }
train.state parameter @w : tensor<4x3xf32>
// CHECK-LABEL: train.program
// CHECK-NOT: train.state optimizer
// CHECK-NOT: train.entry @init
// CHECK: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[G:.*]] = train.input
  %g = train.input "g" micro : tensor<4x3xf32>
  train.gradient @w, %g : tensor<4x3xf32>
  // CHECK-NOT: nn.min
  // CHECK: %[[W:.*]] = train.get @w
  // CHECK: %[[LR:.*]] = train.get @lr
  // CHECK: %[[R:.*]] = nn.broadcast %[[LR]] to [4, 3]
  // CHECK: %[[S:.*]] = nn.mul %[[G]], %[[R]]
  // CHECK: %[[N:.*]] = nn.sub %[[W]], %[[S]]
  // CHECK: nn.select %{{.*}}, %[[N]], %[[W]]
}

// -----

// A state that the forward has read is not read a second time.
train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 }
train.state parameter @w : tensor<4x3xf32>
// CHECK-LABEL: train.program
// CHECK: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[W:.*]] = train.get @w
  // CHECK-NOT: train.get @w
  // CHECK: %[[N:.*]] = nn.sub %[[W]]
  // CHECK: nn.select %{{.*}}, %[[N]], %[[W]]
  %w = train.get @w : tensor<4x3xf32>
  %g = nn.exp %w : tensor<4x3xf32>
  train.gradient @w, %g : tensor<4x3xf32>
}

// -----

// Momentum, and decay as a part of the gradient.
train.program @p { model @m optimizer sgd(lr 0.1, momentum 0.75, weight_decay 0.5) schedule constant batch 2 }
train.state parameter @w : tensor<4x3xf32>
// CHECK-LABEL: train.program
// CHECK: train.state optimizer @momentum.w : tensor<4x3xf32>
// CHECK: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[G:.*]] = train.input
  %g = train.input "g" micro : tensor<4x3xf32>
  train.gradient @w, %g : tensor<4x3xf32>
  // CHECK: %[[W:.*]] = train.get @w
  // CHECK: nn.constant 0.5 : tensor<4x3xf32>
  // CHECK: %[[D:.*]] = nn.mul %[[W]]
  // CHECK: %[[GD:.*]] = nn.add %[[G]], %[[D]]
  // CHECK: %[[OLD:.*]] = train.get @momentum.w
  // CHECK: nn.constant 0.75
  // CHECK: %[[SCALED:.*]] = nn.mul %[[OLD]]
  // CHECK: %[[M:.*]] = nn.add %[[SCALED]], %[[GD]]
  // CHECK: %[[KEPT:.*]] = nn.select %{{.*}}, %[[M]], %[[OLD]]
  // CHECK: train.set @momentum.w, %[[KEPT]]
  // CHECK: nn.mul %[[M]]
  // CHECK: nn.sub %[[W]]
}

// -----

// Adam: decay is a part of the gradient that the averages see.
train.program @p { model @m optimizer adam(lr 0.1, weight_decay 0.5) schedule constant batch 2 }
train.state parameter @w : tensor<4x3xf32>
// CHECK-LABEL: train.program
// CHECK: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[G:.*]] = train.input
  %g = train.input "g" micro : tensor<4x3xf32>
  train.gradient @w, %g : tensor<4x3xf32>
  // CHECK: %[[W:.*]] = train.get @w
  // CHECK: %[[D:.*]] = nn.mul %[[W]]
  // CHECK: %[[GD:.*]] = nn.add %[[G]], %[[D]]
  // CHECK: train.get @exp_avg.w
  // CHECK: nn.mul %[[GD]]
  // CHECK: train.set @exp_avg.w
  // CHECK: nn.square %[[GD]]
  // CHECK: nn.sub %[[W]], %
}
