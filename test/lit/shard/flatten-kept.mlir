// RUN: trainc-opt --flatten --split-input-file %s | FileCheck %s

// Parameters that the step reads in f32 are in other buckets than parameters with a working copy.
// CHECK: train.state parameter @bucket.0 : tensor<1024xf32> {members = [#train.member<"a", 0, tensor<2x2xf32>>, #train.member<"c", 256, tensor<20x30xf32>>]}
// CHECK: train.state parameter @bucket.1 : tensor<512xf32> {members = [#train.member<"b", 0, tensor<2x2xf32>>]}
train.program @main { model @m  optimizer sgd  ranks 2  zero_stage 1  precision bf16 keep_f32 "b" }
train.state parameter @a : tensor<2x2xf32>
train.state parameter @b : tensor<2x2xf32>
train.state parameter @c : tensor<20x30xf32>
train.entry @micro_step {
  %a = train.get @a : tensor<2x2xf32>
  %b = train.get @b : tensor<2x2xf32>
  %c = train.get @c : tensor<20x30xf32>
  train.gradient @a, %a : tensor<2x2xf32>
  train.gradient @b, %b : tensor<2x2xf32>
  train.gradient @c, %c : tensor<20x30xf32>
}

// -----

// In f32 all are read as they are.
// CHECK: train.state parameter @bucket.0 : tensor<512xf32> {members = [#train.member<"a", 0, tensor<2x2xf32>>, #train.member<"b", 256, tensor<2x2xf32>>]}
train.program @main { model @m  optimizer sgd  ranks 2  zero_stage 1  precision fp32 keep_f32 "b" }
train.state parameter @a : tensor<2x2xf32>
train.state parameter @b : tensor<2x2xf32>
train.entry @micro_step {
  %a = train.get @a : tensor<2x2xf32>
  %b = train.get @b : tensor<2x2xf32>
  train.gradient @a, %a : tensor<2x2xf32>
  train.gradient @b, %b : tensor<2x2xf32>
}

// -----

// An evaluation in bf16 reads them as f32, too.
// CHECK: train.state parameter @bucket.0 : tensor<512xf32> {members = [#train.member<"a", 0, tensor<2x2xf32>>]}
// CHECK: train.state parameter @bucket.1 : tensor<512xf32> {members = [#train.member<"b", 0, tensor<2x2xf32>>]}
train.program @main { model @m  optimizer sgd  ranks 2  zero_stage 1  precision fp32 keep_f32 "b"  eval_precision bf16 }
train.state parameter @a : tensor<2x2xf32>
train.state parameter @b : tensor<2x2xf32>
train.entry @micro_step {
  %a = train.get @a : tensor<2x2xf32>
  %b = train.get @b : tensor<2x2xf32>
  train.gradient @a, %a : tensor<2x2xf32>
  train.gradient @b, %b : tensor<2x2xf32>
}
