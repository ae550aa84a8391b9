// RUN: trainc-opt %s --split-input-file --working-copies | FileCheck %s

train.program @p { model @m  optimizer sgd  precision bf16 }
// CHECK: train.state parameter @w : tensor<64x32xf32>
// CHECK-NEXT: train.state working @working.w : tensor<64x32xbf16>
train.state parameter @w : tensor<64x32xf32>
train.state output @y : tensor<64x32xbf16>

// CHECK-LABEL: train.entry @init
// CHECK-NOT: @working.w
train.entry @init {
  %0 = nn.constant 1.0 : tensor<64x32xf32>
  train.set @w, %0 : tensor<64x32xf32>
}
// CHECK-LABEL: train.entry @refresh
// CHECK-NEXT: %[[W:.*]] = train.get @w : tensor<64x32xf32>
// CHECK-NEXT: %[[LOW:.*]] = nn.convert %[[W]] to bf16
// CHECK-NEXT: train.set @working.w, %[[LOW]] : tensor<64x32xbf16>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[COPY:.*]] = train.get @working.w : tensor<64x32xbf16>
  %w = train.get @w : tensor<64x32xf32>
  %low = nn.convert %w to bf16 : tensor<64x32xf32>
  // CHECK: train.set @y, %[[COPY]]
  train.set @y, %low : tensor<64x32xbf16>
  // CHECK: %[[NEW:.*]] = nn.neg
  %new = nn.neg %w : tensor<64x32xf32>
  // CHECK-NEXT: train.set @w, %[[NEW]] : tensor<64x32xf32>
  // CHECK-NEXT: %[[ROUNDED:.*]] = nn.convert %[[NEW]] to bf16
  // CHECK-NEXT: train.set @working.w, %[[ROUNDED]] : tensor<64x32xbf16>
  train.set @w, %new : tensor<64x32xf32>
}

// -----

// Several ranks, stage 1: of the parameters each rank keeps the part that it updates, of the copies all.

train.program @p { model @m  optimizer sgd  precision bf16  ranks 2  zero_stage 1 }
// CHECK: train.state parameter @bucket.0 : tensor<512xf32>{{.*}}dist.placement = #dist.placement<shard = 0>
// CHECK: train.state working @working.bucket.0 : tensor<512xbf16>
train.state parameter @bucket.0 : tensor<512xf32> {members = [#train.member<"w", 0, tensor<16x16xf32>>]}
train.state output @y : tensor<16x16xbf16>

train.entry @init {
  %0 = nn.constant 1.0 : tensor<512xf32>
  train.set @bucket.0, %0 : tensor<512xf32>
}
// CHECK-LABEL: train.entry @eval
train.entry @eval {
  // CHECK: %[[FLAT:.*]] = train.get @working.bucket.0 : tensor<512xbf16>
  // CHECK: dist.member %[[FLAT]] at 0 : tensor<512xbf16> -> tensor<16x16xbf16>
  %flat = train.get @bucket.0 : tensor<512xf32>
  %w = dist.member %flat at 0 : tensor<512xf32> -> tensor<16x16xf32>
  %low = nn.convert %w to bf16 : tensor<16x16xf32>
  train.set @y, %low : tensor<16x16xbf16>
}

// -----

// A parameter that nothing casts has no copy: it was kept in f32. One that the evaluation reads itself is divided all the same.

train.program @p { model @m  optimizer sgd  precision bf16 keep_f32 "k"  eval_precision fp32  ranks 2  zero_stage 1 }
// CHECK: train.state parameter @bucket.0 : tensor<512xf32>{{.*}}dist.placement = #dist.placement<shard = 0>
// CHECK: train.state working @working.bucket.0
// CHECK: train.state parameter @bucket.1 : tensor<512xf32>
// CHECK-NOT: @working.bucket.1
train.state parameter @bucket.0 : tensor<512xf32> {members = [#train.member<"w", 0, tensor<16x16xf32>>]}
train.state parameter @bucket.1 : tensor<512xf32> {members = [#train.member<"k", 0, tensor<16x16xf32>>]}
train.state output @y : tensor<16x16xbf16>
train.state output @z : tensor<16x16xf32>

train.entry @init {
  %0 = nn.constant 1.0 : tensor<512xf32>
  train.set @bucket.0, %0 : tensor<512xf32>
  train.set @bucket.1, %0 : tensor<512xf32>
}
train.entry @micro_step {
  %flat = train.get @bucket.0 : tensor<512xf32>
  %w = dist.member %flat at 0 : tensor<512xf32> -> tensor<16x16xf32>
  %low = nn.convert %w to bf16 : tensor<16x16xf32>
  train.set @y, %low : tensor<16x16xbf16>
  // CHECK: %[[KEPT:.*]] = train.get @bucket.1 : tensor<512xf32>
  // CHECK: dist.member %[[KEPT]] at 0 : tensor<512xf32> -> tensor<16x16xf32>
  %other = train.get @bucket.1 : tensor<512xf32>
  %k = dist.member %other at 0 : tensor<512xf32> -> tensor<16x16xf32>
  train.set @z, %k : tensor<16x16xf32>
}
// CHECK-LABEL: train.entry @eval
train.entry @eval {
  // CHECK: train.get @bucket.0 : tensor<512xf32>
  %flat = train.get @bucket.0 : tensor<512xf32>
  %w = dist.member %flat at 0 : tensor<512xf32> -> tensor<16x16xf32>
  train.set @z, %w : tensor<16x16xf32>
}

// -----

// The entry `refresh` may be there already.

train.program @p { model @m  optimizer sgd  precision bf16 }
train.state parameter @w : tensor<4xf32>
train.state chunks @chunks.w : tensor<1xi64>
train.state output @y : tensor<4xbf16>

train.entry @init {
}
// CHECK-LABEL: train.entry @refresh
// CHECK-NEXT: %[[ZERO:.*]] = nn.constant 0 : tensor<1xi64>
// CHECK-NEXT: train.set @chunks.w, %[[ZERO]]
// CHECK-NEXT: %[[W:.*]] = train.get @w
// CHECK-NEXT: %[[LOW:.*]] = nn.convert %[[W]] to bf16
// CHECK-NEXT: train.set @working.w, %[[LOW]]
// CHECK-NOT: train.entry @refresh
train.entry @refresh {
  %0 = nn.constant 0 : tensor<1xi64>
  train.set @chunks.w, %0 : tensor<1xi64>
}
train.entry @eval {
  %w = train.get @w : tensor<4xf32>
  %low = nn.convert %w to bf16 : tensor<4xf32>
  train.set @y, %low : tensor<4xbf16>
}
