// RUN: trainc-opt %s --split-input-file --optimizer=loss-scale-window=100 | FileCheck %s

// Gradients of a scaled loss: norm, clipping and update get them unscaled, and the scale is advanced.

train.program @p {
  model @m  optimizer sgd(lr 0.1)  schedule constant  clip 2.0  batch 2
  precision fp16
}
train.state parameter @w : tensor<4xf32>
train.state optimizer @loss_scale : tensor<f32>

// CHECK-DAG: train.state optimizer @loss_scale_good_steps : tensor<f32>
// CHECK-DAG: train.state scalar from_device @step_loss_scale : tensor<f32>
// CHECK-DAG: train.state scalar from_device @overflow : tensor<f32>

// CHECK-LABEL: train.entry @init
// CHECK: %[[ZERO:.*]] = nn.constant 0 : tensor<f32>
// CHECK-NEXT: train.set @loss_scale_good_steps, %[[ZERO]]

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[G:.*]] = train.input "g"
// CHECK: %[[SCALE:.*]] = train.get @loss_scale
// CHECK-NEXT: %[[INVERSE:.*]] = nn.reciprocal %[[SCALE]]
// CHECK-NEXT: %[[WIDE:.*]] = nn.broadcast %[[INVERSE]] to [4]
// CHECK-NEXT: %[[GRADIENT:.*]] = nn.mul %[[G]], %[[WIDE]]
// CHECK-NEXT: nn.square %[[GRADIENT]]
// CHECK: train.set @finite
// CHECK: %[[GOOD:.*]] = train.get @loss_scale_good_steps
// Twice as large after 100 good steps, unless that is infinite.
// CHECK: %[[TWICE:.*]] = nn.mul %[[SCALE]]
// CHECK: nn.compare le %[[TWICE]]
// CHECK-NEXT: nn.select %{{.*}}, %[[TWICE]], %[[SCALE]]
// CHECK: nn.constant 100 :
// CHECK-NEXT: nn.compare ge
// Half as large, not below 1.
// CHECK: nn.constant 0.5
// CHECK-NEXT: %[[HALF:.*]] = nn.mul %[[SCALE]]
// CHECK-NEXT: nn.constant 1 :
// CHECK-NEXT: nn.max
// CHECK: train.set @loss_scale,
// CHECK: train.set @loss_scale_good_steps,
// CHECK: train.set @step_loss_scale, %[[SCALE]]
// CHECK: train.set @overflow,
// The update unscales the gradients a second time, so the unscaled gradients of the norm are not kept.
// CHECK: %[[AGAIN:.*]] = nn.barrier %[[G]]
// CHECK: nn.mul %[[AGAIN]]
// CHECK: train.set @w
train.entry @init {
}
train.entry @micro_step {
  %g = train.input "g" micro : tensor<4xf32>
  train.gradient @w, %g : tensor<4xf32>
}

// -----

// A fixed scale.

train.program @fixed { model @m  optimizer sgd(lr 0.1)  batch 2  precision fp16  loss_scale 1024 }
train.state parameter @w : tensor<4xf32>

// CHECK-LABEL: train.program @fixed
// CHECK-NOT: @overflow
// CHECK: %[[G:.*]] = train.input "g"
// CHECK: %[[INVERSE:.*]] = nn.constant {{0.0009765625|9.765625e-04}} : tensor<f32>
// CHECK-NEXT: %[[WIDE:.*]] = nn.broadcast %[[INVERSE]] to [4]
// CHECK-NEXT: nn.mul %[[G]], %[[WIDE]]
train.entry @micro_step {
  %g = train.input "g" micro : tensor<4xf32>
  train.gradient @w, %g : tensor<4xf32>
}
