// RUN: trainc-opt %s --optimizer -split-input-file | FileCheck %s

// A step of the rate in the direction of the sign of one average; another average is stored.
train.program @p { model @m optimizer lion(lr 0.1, beta1 0.5, beta2 0.75, weight_decay 0.125) schedule constant batch 2 }
train.state parameter @w : tensor<4x3xf32>
// CHECK-LABEL: train.program
// CHECK: train.state optimizer @exp_avg.w : tensor<4x3xf32>
// CHECK: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[G:.*]] = train.input
  %g = train.input "g" micro : tensor<4x3xf32>
  train.gradient @w, %g : tensor<4x3xf32>
  // CHECK: %[[W:.*]] = train.get @w
  // CHECK: %[[OLD:.*]] = train.get @exp_avg.w
  // CHECK: nn.constant 0.5
  // CHECK: %[[A:.*]] = nn.add
  // CHECK: %[[NEGATIVE:.*]] = nn.compare lt %[[A]]
  // CHECK: %[[MINUS:.*]] = nn.select %[[NEGATIVE]]
  // CHECK: %[[POSITIVE:.*]] = nn.compare gt %[[A]]
  // CHECK: %[[SIGN:.*]] = nn.select %[[POSITIVE]], %{{.*}}, %[[MINUS]]
  // CHECK: nn.constant 0.75
  // CHECK: %[[B:.*]] = nn.add
  // CHECK: nn.select %{{.*}}, %[[B]], %[[OLD]]
  // CHECK: train.set @exp_avg.w
  // CHECK: nn.mul %[[W]]
  // CHECK: nn.mul %[[SIGN]]
  // CHECK: nn.sub
}
