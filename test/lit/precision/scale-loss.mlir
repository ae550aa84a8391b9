// RUN: trainc-opt %s --split-input-file --scale-loss | FileCheck %s

train.program @p { model @m  optimizer sgd  precision fp16  loss_scale_init 1024 }
train.state parameter @w : tensor<4xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK: train.state optimizer @loss_scale : tensor<f32>
// CHECK-NEXT: train.entry @init
// CHECK: %[[INITIAL:.*]] = nn.constant 1024 : tensor<f32>
// CHECK-NEXT: train.set @loss_scale, %[[INITIAL]]
train.entry @init {
  %0 = nn.constant 1.0 : tensor<4xf32>
  train.set @w, %0 : tensor<4xf32>
}
// The reported loss is not scaled.
// CHECK-LABEL: train.entry @micro_step
// CHECK: train.set @loss, %[[LOSS:.*]] : tensor<f32>
// CHECK-NEXT: %[[SCALE:.*]] = train.get @loss_scale : tensor<f32>
// CHECK-NEXT: %[[SCALED:.*]] = nn.mul %[[LOSS]], %[[SCALE]]
// CHECK-NEXT: train.minimize %[[SCALED]]
train.entry @micro_step {
  %w = train.get @w : tensor<4xf32>
  %l = nn.reduce sum %w over [0] : tensor<4xf32>
  train.set @loss, %l : tensor<f32>
  train.minimize %l : tensor<f32>
}

// -----

// A fixed scale is no state.

// CHECK-LABEL: train.program @fixed
// CHECK-NOT: @loss_scale
// CHECK: %[[SCALE:.*]] = nn.constant 512 : tensor<f32>
// CHECK-NEXT: %[[SCALED:.*]] = nn.mul %{{.*}}, %[[SCALE]]
// CHECK-NEXT: train.minimize %[[SCALED]]
train.program @fixed { model @m  optimizer sgd  precision fp16  loss_scale 512 }
train.state parameter @w : tensor<4xf32>
train.entry @micro_step {
  %w = train.get @w : tensor<4xf32>
  %l = nn.reduce sum %w over [0] : tensor<4xf32>
  train.minimize %l : tensor<f32>
}

// -----

// bf16 has the range of f32.

// CHECK-LABEL: train.program @bf16
// CHECK: %[[LOSS:.*]] = nn.reduce
// CHECK-NEXT: train.minimize %[[LOSS]]
train.program @bf16 { model @m  optimizer sgd  precision bf16 }
train.state parameter @w : tensor<4xf32>
train.entry @micro_step {
  %w = train.get @w : tensor<4xf32>
  %l = nn.reduce sum %w over [0] : tensor<4xf32>
  train.minimize %l : tensor<f32>
}
