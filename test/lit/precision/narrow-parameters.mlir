// RUN: trainc-opt %s --split-input-file --narrow-parameters | FileCheck %s
// RUN: trainc-opt %s --split-input-file --narrow-parameters --canonicalize | FileCheck %s --check-prefix=ONCE

// Trained and frozen parameters become narrow; parameters that are kept in f32, and other states, do not.

train.program @p { model @m  optimizer sgd  precision bf16 param_type bf16 keep_f32 "*.norm" }
// CHECK: train.state parameter @w : tensor<64x32xbf16>
// CHECK-NEXT: train.state parameter frozen @f : tensor<64x32xbf16>
// CHECK-NEXT: train.state parameter @h.norm : tensor<64x32xf32>
// CHECK-NEXT: train.state optimizer @exp_avg.w : tensor<64x32xf32>
train.state parameter @w : tensor<64x32xf32>
train.state parameter frozen @f : tensor<64x32xf32>
train.state parameter @h.norm : tensor<64x32xf32>
train.state optimizer @exp_avg.w : tensor<64x32xf32>
train.state output @y : tensor<64x32xbf16>
train.state output @z : tensor<64x32xf32>

// Initial values that are drawn are rounded.
// CHECK-LABEL: train.entry @init
// CHECK-NEXT: %[[DRAWN:.*]] = nn.constant
// CHECK-NEXT: %[[LOW:.*]] = nn.convert %[[DRAWN]] to bf16
// CHECK-NEXT: train.set @w, %[[LOW]] : tensor<64x32xbf16>
// CHECK-NEXT: train.set @h.norm, %[[DRAWN]] : tensor<64x32xf32>
train.entry @init {
  %0 = nn.constant 0.3 : tensor<64x32xf32>
  train.set @w, %0 : tensor<64x32xf32>
  train.set @h.norm, %0 : tensor<64x32xf32>
}

// Who reads bf16 reads the state as it is.
// CHECK-LABEL: train.entry @micro_step
// CHECK-NEXT: %[[W:.*]] = train.get @w : tensor<64x32xbf16>
// CHECK-NEXT: %[[F:.*]] = train.get @f : tensor<64x32xbf16>
// CHECK-NEXT: %[[N:.*]] = train.get @h.norm : tensor<64x32xf32>
// CHECK-NEXT: nn.add %[[W]], %[[F]] : tensor<64x32xbf16>
// CHECK-NEXT: train.set
train.entry @micro_step {
  %w = train.get @w : tensor<64x32xf32>
  %low = nn.convert %w to bf16 : tensor<64x32xf32>
  %f = train.get @f : tensor<64x32xf32>
  %lowf = nn.convert %f to bf16 : tensor<64x32xf32>
  %n = train.get @h.norm : tensor<64x32xf32>
  %s = nn.add %low, %lowf : tensor<64x32xbf16>, tensor<64x32xbf16>
  train.set @y, %s : tensor<64x32xbf16>
}

// Others read f32, some of them beside such as read bf16.
// CHECK-LABEL: train.entry @eval
// CHECK-NEXT: %[[W:.*]] = train.get @w : tensor<64x32xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = nn.convert %[[W]] to f32
// CHECK-NEXT: train.set @y, %[[W]]
// CHECK-NEXT: train.set @z, %[[WIDE]]
train.entry @eval {
  %w = train.get @w : tensor<64x32xf32>
  %low = nn.convert %w to bf16 : tensor<64x32xf32>
  train.set @y, %low : tensor<64x32xbf16>
  train.set @z, %w : tensor<64x32xf32>
}

// -----

// Without the word nothing changes.

train.program @p { model @m  optimizer sgd  precision bf16 }
// CHECK: train.state parameter @w : tensor<4xf32>
train.state parameter @w : tensor<4xf32>

// -----

// An evaluation in f16 converts from the type of the state, without a cast in between.

// ONCE: eval_precision fp16
train.program @p { model @m  optimizer sgd  precision bf16 param_type bf16  eval_precision fp16 }
train.state parameter @w : tensor<4xf32>
train.state output @y : tensor<4xf16>
// ONCE: train.entry @eval
// ONCE-NEXT: %[[W:.*]] = train.get @w : tensor<4xbf16>
// ONCE-NEXT: %[[LOW:.*]] = nn.convert %[[W]] to f16 : tensor<4xbf16>
// ONCE-NEXT: train.set @y, %[[LOW]]
train.entry @eval {
  %w = train.get @w : tensor<4xf32>
  %low = nn.convert %w to f16 : tensor<4xf32>
  train.set @y, %low : tensor<4xf16>
}
