// RUN: not trainc-opt %s --scale-loss 2>&1 | FileCheck %s

// CHECK: scale-loss: the module has no entry @init; run instantiate first
train.program @p { model @m  optimizer sgd  precision fp16 }
train.state parameter @w : tensor<4xf32>
train.entry @micro_step {
  %w = train.get @w : tensor<4xf32>
  %l = nn.reduce sum %w over [0] : tensor<4xf32>
  train.minimize %l : tensor<f32>
}
