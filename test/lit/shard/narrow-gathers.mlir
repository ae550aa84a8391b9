// RUN: trainc-opt --narrow-gathers --split-input-file %s | FileCheck %s
// RUN: trainc-opt --narrow-gathers --shard --split-input-file %s | FileCheck %s --check-prefix=GATHERED

// All that the evaluation reads of the bucket is cast to bf16, so a rank casts its part of the bucket, and half the bytes are gathered.
train.program @main { model @m  optimizer sgd(lr 0.1)  ranks 2  zero_stage 3  eval_precision bf16 }
train.state parameter @bucket.0 : tensor<1024xf32> {dist.placement = #dist.placement<shard = 0>, members = [#train.member<"w", 0, tensor<16x32xf32>>, #train.member<"b", 512, tensor<32xf32>>]}
train.state output @y : tensor<16x32xbf16>
train.state output @z : tensor<32xbf16>
train.state output @x : tensor<16x32xf32>
// CHECK-LABEL: train.entry @eval
// CHECK-NEXT: %[[FLAT:.*]] = train.get @bucket.0 : tensor<1024xf32>
// CHECK-NEXT: %[[LOW:.*]] = nn.convert %[[FLAT]] to bf16 : tensor<1024xf32>
// CHECK-NEXT: %[[W:.*]] = dist.member %[[LOW]] at 0 : tensor<1024xbf16> -> tensor<16x32xbf16>
// CHECK-NEXT: %[[B:.*]] = dist.member %[[LOW]] at 512 : tensor<1024xbf16> -> tensor<32xbf16>
// CHECK-NEXT: train.set @y, %[[W]]
// CHECK-NEXT: train.set @z, %[[B]]
// GATHERED-LABEL: train.entry @eval
// GATHERED-NEXT: %[[PART:.*]] = train.get @bucket.0 : tensor<512xf32>
// GATHERED-NEXT: %[[LOW:.*]] = nn.convert %[[PART]] to bf16 : tensor<512xf32>
// GATHERED-NEXT: %[[PENDING:.*]] = dist.all_gather_start %[[LOW]] in shard : tensor<512xbf16> -> tensor<1024xbf16>
// GATHERED-NEXT: %[[WHOLE:.*]] = dist.wait %[[PENDING]]
// GATHERED-NEXT: dist.member %[[WHOLE]] at 0 : tensor<1024xbf16> -> tensor<16x32xbf16>
train.entry @eval {
  %flat = train.get @bucket.0 : tensor<1024xf32>
  %w = dist.member %flat at 0 : tensor<1024xf32> -> tensor<16x32xf32>
  %low_w = nn.convert %w to bf16 : tensor<16x32xf32>
  %b = dist.member %flat at 512 : tensor<1024xf32> -> tensor<32xf32>
  %low_b = nn.convert %b to bf16 : tensor<32xf32>
  train.set @y, %low_w : tensor<16x32xbf16>
  train.set @z, %low_b : tensor<32xbf16>
}
// A parameter that the step reads in f32 is gathered in f32.
// CHECK-LABEL: train.entry @micro_step
// CHECK-NOT: nn.convert
// GATHERED-LABEL: train.entry @micro_step
// GATHERED: dist.all_gather_start %{{.*}} in shard : tensor<512xf32> -> tensor<1024xf32>
train.entry @micro_step {
  %flat = train.get @bucket.0 : tensor<1024xf32>
  %w = dist.member %flat at 0 : tensor<1024xf32> -> tensor<16x32xf32>
  train.set @x, %w : tensor<16x32xf32>
}

// -----

// One member is read in f32: the bucket stays as it is.
// CHECK-LABEL: train.program @reads_f32
train.program @reads_f32 { model @m  optimizer sgd(lr 0.1)  ranks 2  zero_stage 3  eval_precision bf16 }
train.state parameter @bucket.0 : tensor<1024xf32> {dist.placement = #dist.placement<shard = 0>, members = [#train.member<"w", 0, tensor<16x32xf32>>, #train.member<"b", 512, tensor<32xf32>>]}
train.state output @y : tensor<16x32xbf16>
train.state output @z : tensor<32xf32>
// CHECK: %[[FLAT:.*]] = train.get @bucket.0
// CHECK-NEXT: %[[W:.*]] = dist.member %[[FLAT]] at 0 : tensor<1024xf32>
// CHECK-NEXT: nn.convert %[[W]] to bf16
train.entry @eval {
  %flat = train.get @bucket.0 : tensor<1024xf32>
  %w = dist.member %flat at 0 : tensor<1024xf32> -> tensor<16x32xf32>
  %low_w = nn.convert %w to bf16 : tensor<16x32xf32>
  %b = dist.member %flat at 512 : tensor<1024xf32> -> tensor<32xf32>
  train.set @y, %low_w : tensor<16x32xbf16>
  train.set @z, %b : tensor<32xf32>
}

// -----

// Members are read in two types; a bucket that every rank holds; numbers that are as short, or shorter: nothing would be saved.
// CHECK-LABEL: train.program @saves_nothing
train.program @saves_nothing { model @m  optimizer sgd(lr 0.1)  ranks 2  zero_stage 3  eval_precision bf16 }
train.state parameter @bucket.0 : tensor<1024xf32> {dist.placement = #dist.placement<shard = 0>, members = [#train.member<"w", 0, tensor<16x32xf32>>, #train.member<"b", 512, tensor<32xf32>>]}
train.state parameter @bucket.1 : tensor<512xf32> {members = [#train.member<"p", 0, tensor<32xf32>>]}
train.state parameter @bucket.2 : tensor<512xbf16> {dist.placement = #dist.placement<shard = 0>, members = [#train.member<"q", 0, tensor<32xbf16>>]}
train.state parameter @bucket.3 : tensor<512xbf16> {dist.placement = #dist.placement<shard = 0>, members = [#train.member<"r", 0, tensor<32xbf16>>]}
train.state output @y : tensor<16x32xbf16>
train.state output @z : tensor<32xf16>
train.state output @p : tensor<32xbf16>
train.state output @r : tensor<32xf32>
// CHECK: %[[FLAT:.*]] = train.get @bucket.0
// CHECK-NEXT: dist.member %[[FLAT]] at 0 : tensor<1024xf32>
// CHECK-NEXT: nn.convert
// CHECK-NEXT: dist.member %[[FLAT]] at 512 : tensor<1024xf32>
// CHECK-NEXT: nn.convert
// CHECK: train.get @bucket.1
// CHECK-NEXT: dist.member
// CHECK-NEXT: nn.convert
// CHECK: train.get @bucket.2
// CHECK-NEXT: dist.member
// CHECK-NEXT: nn.convert
// CHECK: train.get @bucket.3
// CHECK-NEXT: dist.member
// CHECK-NEXT: nn.convert
train.entry @eval {
  %flat = train.get @bucket.0 : tensor<1024xf32>
  %w = dist.member %flat at 0 : tensor<1024xf32> -> tensor<16x32xf32>
  %low_w = nn.convert %w to bf16 : tensor<16x32xf32>
  %b = dist.member %flat at 512 : tensor<1024xf32> -> tensor<32xf32>
  %low_b = nn.convert %b to f16 : tensor<32xf32>
  train.set @y, %low_w : tensor<16x32xbf16>
  %whole = train.get @bucket.1 : tensor<512xf32>
  %p = dist.member %whole at 0 : tensor<512xf32> -> tensor<32xf32>
  %low_p = nn.convert %p to bf16 : tensor<32xf32>
  train.set @p, %low_p : tensor<32xbf16>
  %short = train.get @bucket.2 : tensor<512xbf16>
  %q = dist.member %short at 0 : tensor<512xbf16> -> tensor<32xbf16>
  %other = nn.convert %q to f16 : tensor<32xbf16>
  train.set @z, %other : tensor<32xf16>
  %third = train.get @bucket.3 : tensor<512xbf16>
  %r = dist.member %third at 0 : tensor<512xbf16> -> tensor<32xbf16>
  %wide = nn.convert %r to f32 : tensor<32xbf16>
  train.set @r, %wide : tensor<32xf32>
}
