// RUN: trainc-opt %s --optimizer --canonicalize --cse | FileCheck %s

// Groups by pattern: later groups win, even if they set the default; a vector has weight decay only if a group sets
// it.

train.program @p { model @m optimizer sgd(lr 0.1, weight_decay 0.5) schedule constant batch 2
  group "h.*.weight" weight_decay 0.25
  group "h.*.weight" lr_scale 0.375
  group "*.1.*" lr_scale 0.125
  group "h.0.*" lr_scale 1
  group "*.gain" weight_decay 0.0625
}
train.state parameter @h.0.weight : tensor<2x2xf32>
train.state parameter @h.1.weight : tensor<2x2xf32>
train.state parameter @head.weight : tensor<2x2xf32>
train.state parameter @h.0.bias : tensor<2xf32>
train.state parameter @h.0.gain : tensor<2xf32>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  %g = train.input "g" micro : tensor<2x2xf32>
  %v = train.input "v" micro : tensor<2xf32>
  train.gradient @h.0.weight, %g : tensor<2x2xf32>
  train.gradient @h.1.weight, %g : tensor<2x2xf32>
  train.gradient @head.weight, %g : tensor<2x2xf32>
  train.gradient @h.0.bias, %v : tensor<2xf32>
  train.gradient @h.0.gain, %v : tensor<2xf32>
}
// CHECK-DAG: %[[HALF:.*]] = nn.constant 0.5 : tensor<2x2xf32>
// CHECK-DAG: %[[QUARTER:.*]] = nn.constant 0.25 : tensor<2x2xf32>
// CHECK-DAG: %[[SCALE:.*]] = nn.constant 0.125 : tensor<f32>
// CHECK-DAG: %[[GAIN:.*]] = nn.constant 0.0625 : tensor<2xf32>
// CHECK: %[[W0:.*]] = train.get @h.0.weight
// CHECK: nn.mul %[[W0]], %[[QUARTER]]
// CHECK: %[[LR:.*]] = train.get @lr
// CHECK-NOT: tensor<f32>, tensor<f32>
// CHECK: train.set @h.0.weight
// CHECK: %[[W1:.*]] = train.get @h.1.weight
// CHECK: nn.mul %[[W1]], %[[QUARTER]]
// CHECK: nn.mul %{{.*}}, %[[SCALE]] : tensor<f32>, tensor<f32>
// CHECK: train.set @h.1.weight
// CHECK: %[[W2:.*]] = train.get @head.weight
// CHECK: nn.mul %[[W2]], %[[HALF]]
// CHECK: train.set @head.weight
// CHECK: %[[B:.*]] = train.get @h.0.bias
// CHECK-NOT: nn.mul %[[B]]
// CHECK: train.set @h.0.bias
// CHECK: %[[G:.*]] = train.get @h.0.gain
// CHECK: nn.mul %[[G]], %[[GAIN]]
// CHECK: train.set @h.0.gain
