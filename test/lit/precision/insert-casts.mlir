// RUN: trainc-opt %s --split-input-file --insert-casts | FileCheck %s

// Products compute in bf16, losses and functions in f32; every cast is made once.

train.program @p { model @m  optimizer sgd  precision bf16 }
train.state parameter @w : tensor<64x32xf32>
train.state parameter @b : tensor<32xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[X:.*]] = train.input "x" micro : tensor<8x64xf32>
  // CHECK: %[[LOW_X:.*]] = nn.convert %[[X]] to bf16
  %x = train.input "x" micro : tensor<8x64xf32>
  // CHECK: %[[W:.*]] = train.get @w
  // CHECK: %[[LOW_W:.*]] = nn.convert %[[W]] to bf16
  %w = train.get @w : tensor<64x32xf32>
  %b = train.get @b : tensor<32xf32>
  // CHECK: %[[H:.*]] = nn.matmul %[[LOW_X]], %[[LOW_W]] : tensor<8x64xbf16>, tensor<64x32xbf16>
  %h = nn.matmul %x, %w : tensor<8x64xf32>, tensor<64x32xf32>
  // CHECK: %[[BIAS:.*]] = nn.broadcast %{{.*}} to [8, 32] : tensor<32xbf16>
  %bias = nn.broadcast %b to [8, 32] : tensor<32xf32>
  // CHECK: %[[A:.*]] = nn.add %[[H]], %[[BIAS]] : tensor<8x32xbf16>, tensor<8x32xbf16>
  %a = nn.add %h, %bias : tensor<8x32xf32>, tensor<8x32xf32>
  // CHECK: %[[FULL_A:.*]] = nn.convert %[[A]] to f32
  // CHECK-NOT: nn.convert
  // CHECK: %[[T:.*]] = nn.tanh %[[FULL_A]] : tensor<8x32xf32>
  %t = nn.tanh %a : tensor<8x32xf32>
  // CHECK-NEXT: %[[E:.*]] = nn.exp %[[FULL_A]] : tensor<8x32xf32>
  %e = nn.exp %a : tensor<8x32xf32>
  // CHECK-NEXT: %[[SUM:.*]] = nn.add %[[T]], %[[E]] : tensor<8x32xf32>
  %s = nn.add %t, %e : tensor<8x32xf32>, tensor<8x32xf32>
  // An op on bf16 and f32 operands computes in bf16.
  // CHECK-NEXT: %[[LOW_SUM:.*]] = nn.convert %[[SUM]] to bf16
  // CHECK-NEXT: %[[R:.*]] = nn.mul %[[LOW_SUM]], %[[A]] : tensor<8x32xbf16>, tensor<8x32xbf16>
  %r = nn.mul %s, %a : tensor<8x32xf32>, tensor<8x32xf32>
  // CHECK: %[[FULL_R:.*]] = nn.convert %[[R]] to f32
  // CHECK: %[[TOTAL:.*]] = nn.reduce sum %[[FULL_R]] over [0, 1] : tensor<8x32xf32>
  %total = nn.reduce sum %r over [0, 1] : tensor<8x32xf32>
  // CHECK: train.set @loss, %[[TOTAL]] : tensor<f32>
  train.set @loss, %total : tensor<f32>
  // CHECK: train.minimize %[[TOTAL]] : tensor<f32>
  train.minimize %total : tensor<f32>
}

// -----

// The scale of a norm follows the norm, and is cast before it is repeated.

train.program @p { model @m  optimizer sgd  precision bf16 }
train.state parameter @gain : tensor<32xf32>
train.state parameter @w : tensor<32x32xf32>
train.state scalar from_device @eval_loss : tensor<f32>

// CHECK-LABEL: train.entry @eval
train.entry @eval {
  %x = train.input "x" micro : tensor<8x32xf32>
  // CHECK: %[[GAIN:.*]] = train.get @gain
  // CHECK: %[[LOW:.*]] = nn.convert %[[GAIN]] to bf16
  // CHECK: %[[WIDE:.*]] = nn.convert %[[LOW]] to f32
  // CHECK: %[[SCALE:.*]] = nn.broadcast %[[WIDE]] to [8, 32] : tensor<32xf32>
  %gain = train.get @gain : tensor<32xf32>
  %scale = nn.broadcast %gain to [8, 32] : tensor<32xf32>
  // CHECK: %[[Y:.*]], %{{.*}} = nn.standardize %{{.*}} eps {{.*}} : tensor<8x32xf32>
  %y, %rstd = nn.standardize %x eps 1.0e-05 : tensor<8x32xf32>
  // CHECK: nn.mul %[[Y]], %[[SCALE]] : tensor<8x32xf32>, tensor<8x32xf32>
  %z = nn.mul %y, %scale : tensor<8x32xf32>, tensor<8x32xf32>
  %t = nn.reduce sum %z over [0, 1] : tensor<8x32xf32>
  train.set @eval_loss, %t : tensor<f32>
}

// -----

// Targets keep their digits.

train.program @p { model @m  optimizer sgd  precision bf16 }
train.state parameter @w : tensor<32x4xf32>
train.state scalar from_device @eval_loss : tensor<f32>

// CHECK-LABEL: train.entry @eval
train.entry @eval {
  %x = train.input "x" micro : tensor<8x32xf32>
  // CHECK: %[[TARGET:.*]] = train.input "target"
  %target = train.input "target" micro : tensor<8x4xf32>
  %w = train.get @w : tensor<32x4xf32>
  // CHECK: %[[Y:.*]] = nn.matmul
  // CHECK: %[[FULL:.*]] = nn.convert %[[Y]] to f32
  %y = nn.matmul %x, %w : tensor<8x32xf32>, tensor<32x4xf32>
  // CHECK: %[[TWICE:.*]] = nn.add %[[TARGET]], %[[TARGET]] : tensor<8x4xf32>, tensor<8x4xf32>
  %twice = nn.add %target, %target : tensor<8x4xf32>, tensor<8x4xf32>
  // CHECK: nn.sub %[[FULL]], %[[TWICE]] : tensor<8x4xf32>, tensor<8x4xf32>
  %d = nn.sub %y, %twice : tensor<8x4xf32>, tensor<8x4xf32>
  %t = nn.reduce sum %d over [0, 1] : tensor<8x4xf32>
  train.set @eval_loss, %t : tensor<f32>
}

// -----

// A program in f32 stays as it is.

train.program @p { model @m  optimizer sgd }
train.state parameter @w : tensor<32x32xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
// CHECK-NOT: nn.convert
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x32xf32>
  %w = train.get @w : tensor<32x32xf32>
  %y = nn.matmul %x, %w : tensor<8x32xf32>, tensor<32x32xf32>
  %t = nn.reduce sum %y over [0, 1] : tensor<8x32xf32>
  train.set @loss, %t : tensor<f32>
  train.minimize %t : tensor<f32>
}

// -----

// Ops that read a parameter kept in f32 compute in f32. A view or copy of such a parameter alone counts as kept. Other ops do not change.

train.program @p { model @m  optimizer sgd  precision bf16 keep_f32 "kept.*" }
train.state parameter @kept.w : tensor<32x64xf32>
train.state parameter @kept.gain : tensor<32xf32>
train.state parameter @w : tensor<32x32xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[X:.*]] = train.input "x"
  %x = train.input "x" micro : tensor<8x64xf32>
  // CHECK: %[[KEPT:.*]] = train.get @kept.w
  // CHECK-NEXT: %[[GAIN:.*]] = train.get @kept.gain
  %kept = train.get @kept.w : tensor<32x64xf32>
  %gain = train.get @kept.gain : tensor<32xf32>
  // CHECK: nn.convert %{{.*}} to bf16 : tensor<32x32xf32>
  %w = train.get @w : tensor<32x32xf32>
  // CHECK: %[[MOVED:.*]] = nn.transpose %[[KEPT]] by [1, 0] : tensor<32x64xf32>
  %moved = nn.transpose %kept by [1, 0] : tensor<32x64xf32>
  // CHECK: %[[H:.*]] = nn.matmul %[[X]], %[[MOVED]] : tensor<8x64xf32>, tensor<64x32xf32>
  %h = nn.matmul %x, %moved : tensor<8x64xf32>, tensor<64x32xf32>
  // CHECK: %[[LOW_H:.*]] = nn.convert %[[H]] to bf16
  // CHECK: %[[Y:.*]] = nn.matmul %[[LOW_H]], %{{.*}} : tensor<8x32xbf16>, tensor<32x32xbf16>
  %y = nn.matmul %h, %w : tensor<8x32xf32>, tensor<32x32xf32>
  // CHECK: %[[WIDE_Y:.*]] = nn.convert %[[Y]] to f32
  // CHECK: %[[SCALE:.*]] = nn.broadcast %[[GAIN]] to [8, 32] : tensor<32xf32>
  %scale = nn.broadcast %gain to [8, 32] : tensor<32xf32>
  // CHECK: %[[Z:.*]] = nn.mul %[[WIDE_Y]], %[[SCALE]] : tensor<8x32xf32>, tensor<8x32xf32>
  %z = nn.mul %y, %scale : tensor<8x32xf32>, tensor<8x32xf32>
  // CHECK: nn.reduce sum %[[Z]] over [0, 1] : tensor<8x32xf32>
  %t = nn.reduce sum %z over [0, 1] : tensor<8x32xf32>
  train.set @loss, %t : tensor<f32>
  train.minimize %t : tensor<f32>
}

// -----

// Attention reads sinks and biases that are kept in f32, and computes in bf16 nevertheless. Others are rounded.

train.program @p { model @m  optimizer sgd  precision bf16 keep_f32 "kept.*" }
train.state parameter @w : tensor<8x8xf32>
train.state parameter @sinks : tensor<2xf32>
train.state parameter @kept.sinks : tensor<2xf32>
train.state parameter @kept.bias : tensor<2x5xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  %x = train.input "x" micro : tensor<2x3x8xf32>
  %w = train.get @w : tensor<8x8xf32>
  // CHECK: %[[SINKS:.*]] = train.get @sinks
  // CHECK: %[[LOW_SINKS:.*]] = nn.convert %[[SINKS]] to bf16
  %sinks = train.get @sinks : tensor<2xf32>
  // CHECK: %[[KEPT:.*]] = train.get @kept.sinks
  %kept = train.get @kept.sinks : tensor<2xf32>
  // CHECK: %[[BIAS:.*]] = train.get @kept.bias
  %bias = train.get @kept.bias : tensor<2x5xf32>
  %y = nn.matmul %x, %w : tensor<2x3x8xf32>, tensor<8x8xf32>
  // CHECK: nn.attention {{.*}} sinks %[[KEPT]] : tensor<2xf32> bias %[[BIAS]] : tensor<2x5xf32> : tensor<2x3x8xbf16>
  %a, %lse = nn.attention %y, %y, %y heads 2 sinks %kept : tensor<2xf32> bias %bias : tensor<2x5xf32> : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  // CHECK: nn.attention {{.*}} sinks %[[LOW_SINKS]] : tensor<2xbf16> : tensor<2x3x8xbf16>
  %b, %lse1 = nn.attention %a, %a, %a heads 2 sinks %sinks : tensor<2xf32> : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  %t = nn.reduce sum %b over [0, 1, 2] : tensor<2x3x8xf32>
  train.set @loss, %t : tensor<f32>
  train.minimize %t : tensor<f32>
}

// -----

// Evaluation in f32 of a program in bf16.

train.program @p { model @m  optimizer sgd  precision bf16  eval_precision fp32 }
train.state parameter @w : tensor<32x32xf32>
train.state scalar from_device @eval_loss : tensor<f32>
train.state output @logits : tensor<8x32xf32>

// CHECK-LABEL: train.entry @eval
// CHECK-NOT: nn.convert
train.entry @eval {
  %x = train.input "x" micro : tensor<8x32xf32>
  %w = train.get @w : tensor<32x32xf32>
  %y = nn.matmul %x, %w : tensor<8x32xf32>, tensor<32x32xf32>
  %t = nn.reduce sum %y over [0, 1] : tensor<8x32xf32>
  train.set @eval_loss, %t : tensor<f32>
}
// CHECK-LABEL: train.entry @prefill
train.entry @prefill {
  %x = train.input "x" micro : tensor<8x32xf32>
  %w = train.get @w : tensor<32x32xf32>
  // CHECK: nn.matmul %{{.*}} : tensor<8x32xbf16>, tensor<32x32xbf16>
  %y = nn.matmul %x, %w : tensor<8x32xf32>, tensor<32x32xf32>
  train.set @logits, %y : tensor<8x32xf32>
}

// -----

// Evaluation in f16 of a program in f32: that entry alone is cast, and its loss is f32.

train.program @p { model @m  optimizer sgd  eval_precision fp16 }
train.state parameter @w : tensor<32x32xf32>
train.state scalar from_device @loss : tensor<f32>
train.state scalar from_device @eval_loss : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
// CHECK-NOT: nn.convert
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x32xf32>
  %w = train.get @w : tensor<32x32xf32>
  %y = nn.matmul %x, %w : tensor<8x32xf32>, tensor<32x32xf32>
  %t = nn.reduce sum %y over [0, 1] : tensor<8x32xf32>
  train.set @loss, %t : tensor<f32>
  train.minimize %t : tensor<f32>
}
// CHECK-LABEL: train.entry @eval
train.entry @eval {
  %x = train.input "x" micro : tensor<8x32xf32>
  %w = train.get @w : tensor<32x32xf32>
  // CHECK: nn.matmul %{{.*}} : tensor<8x32xf16>, tensor<32x32xf16>
  %y = nn.matmul %x, %w : tensor<8x32xf32>, tensor<32x32xf32>
  // CHECK: %[[SUM:.*]] = nn.reduce sum %{{.*}} over [0, 1] : tensor<8x32xf32>
  %t = nn.reduce sum %y over [0, 1] : tensor<8x32xf32>
  // CHECK: train.set @eval_loss, %[[SUM]] : tensor<f32>
  train.set @eval_loss, %t : tensor<f32>
}

// -----

// Integer targets, and values computed from targets alone, keep their digits, and so do values that are combined with them.

train.program @p { model @m  optimizer sgd  precision bf16 }
train.state parameter @w : tensor<32x1xf32>
train.state scalar from_device @loss : tensor<f32>

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[Y:.*]] = nn.matmul
// CHECK: %[[WIDE:.*]] = nn.convert %[[Y]] to f32
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x32xf32>
  %labels = train.input "labels" micro : tensor<8x1xi32>
  %w = train.get @w : tensor<32x1xf32>
  %y = nn.matmul %x, %w : tensor<8x32xf32>, tensor<32x1xf32>
  // CHECK: %[[T:.*]] = nn.convert %{{.*}} to f32 : tensor<8x1xi32>
  %t = nn.convert %labels to f32 : tensor<8x1xi32>
  // CHECK-NEXT: %[[LOG:.*]] = nn.log %[[T]] : tensor<8x1xf32>
  %log = nn.log %t : tensor<8x1xf32>
  %ones = nn.constant 1 : tensor<8x1xi32>
  %mask = nn.compare eq %labels, %ones : tensor<8x1xi32>, tensor<8x1xi32>
  // CHECK: %[[CHOSEN:.*]] = nn.select %{{.*}}, %[[T]], %[[LOG]] : tensor<8x1xi1>, tensor<8x1xf32>, tensor<8x1xf32>
  %chosen = nn.select %mask, %t, %log : tensor<8x1xi1>, tensor<8x1xf32>, tensor<8x1xf32>
  // CHECK: nn.sub %[[WIDE]], %[[CHOSEN]] : tensor<8x1xf32>, tensor<8x1xf32>
  %d = nn.sub %y, %chosen : tensor<8x1xf32>, tensor<8x1xf32>
  %s = nn.square %d : tensor<8x1xf32>
  %total = nn.reduce sum %s over [0, 1] : tensor<8x1xf32>
  train.set @loss, %total : tensor<f32>
  train.minimize %total : tensor<f32>
}

// -----

// Rows that replace those of a table are cast to its type, and the table is not: it may be much larger.

train.program @p { model @m  optimizer sgd  precision bf16 }
train.state parameter @w : tensor<16x40xf32>
train.state cache @keys : tensor<3x16xf32>
train.state output @logits : tensor<3x40xf32>

// CHECK-LABEL: train.entry @prefill
train.entry @prefill {
  %slot = train.input "slot" micro : tensor<1xi32>
  %x = train.input "x" micro : tensor<1x16xf32>
  %w = train.get @w : tensor<16x40xf32>
  %keys = train.get @keys : tensor<3x16xf32>
  // CHECK: %[[LOW:.*]] = nn.convert %{{.*}} to bf16 : tensor<1x16xf32>
  // CHECK: nn.scatter %[[LOW]] into %{{.*}} at %{{.*}} : tensor<1x16xbf16>, tensor<3x16xbf16>, tensor<1xi32>
  %new_keys = nn.scatter %x into %keys at %slot : tensor<1x16xf32>, tensor<3x16xf32>, tensor<1xi32>
  train.set @keys, %new_keys : tensor<3x16xf32>
  // CHECK: %[[Y:.*]] = nn.matmul %{{.*}} : tensor<1x16xbf16>, tensor<16x40xbf16>
  // CHECK: %[[ROW:.*]] = nn.convert %[[Y]] to f32 : tensor<1x40xbf16>
  %y = nn.matmul %x, %w : tensor<1x16xf32>, tensor<16x40xf32>
  // CHECK: %[[OLD:.*]] = train.get @logits : tensor<3x40xf32>
  // CHECK-NEXT: %[[NEW:.*]] = nn.scatter %[[ROW]] into %[[OLD]] at %{{.*}} : tensor<1x40xf32>, tensor<3x40xf32>, tensor<1xi32>
  // CHECK-NEXT: train.set @logits, %[[NEW]] : tensor<3x40xf32>
  %logits = train.get @logits : tensor<3x40xf32>
  %new = nn.scatter %y into %logits at %slot : tensor<1x40xf32>, tensor<3x40xf32>, tensor<1xi32>
  train.set @logits, %new : tensor<3x40xf32>
}
