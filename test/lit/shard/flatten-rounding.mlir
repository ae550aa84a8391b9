// RUN: trainc-opt --flatten %s | FileCheck %s

// One rank that rounds at random has flat states as well, of f32 and bf16 apart. Gradients keep their own type.
// CHECK-DAG: train.state parameter @bucket.0 : tensor<256xbf16> {members = [#train.member<"a", 0, tensor<4x8xbf16>>]}
// CHECK-DAG: train.state parameter @bucket.1 : tensor<256xf32> {members = [#train.member<"norm", 0, tensor<4x8xf32>>]}
train.program @main { model @m  optimizer sgd  batch 8  precision bf16 param_type bf16 keep_f32 "norm" }
train.state parameter @a : tensor<4x8xbf16>
train.state parameter @norm : tensor<4x8xf32>

// CHECK-LABEL: train.entry @micro_step
// CHECK-COUNT-2: dist.pack %{{.*}} at [0] : tensor<4x8xf32> -> tensor<256xf32>
// CHECK: train.gradient @bucket.0, %{{.*}} : tensor<256xf32>
// CHECK: train.gradient @bucket.1, %{{.*}} : tensor<256xf32>
train.entry @micro_step {
  %g = train.input "g" micro : tensor<4x8xf32>
  train.gradient @a, %g : tensor<4x8xf32>
  train.gradient @norm, %g : tensor<4x8xf32>
}
