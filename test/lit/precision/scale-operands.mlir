// RUN: trainc-opt %s --split-input-file --scale-operands --canonicalize --cse | FileCheck %s

// Two layers: the products of the first become fp8, those of the last stay bf16.

train.program @p { model @m  optimizer sgd  batch 32  precision bf16 product_type fp8 }
train.state parameter @w1 : tensor<64x16xf32>
train.state parameter @w2 : tensor<16x16xf32>
train.state scalar from_device @loss : tensor<f32>
train.entry @init {
}
train.entry @micro_step {
  %x32 = train.input "x" micro : tensor<2x16x64xf32>
  %x = nn.convert %x32 to bf16 : tensor<2x16x64xf32>
  %w1f = train.get @w1 : tensor<64x16xf32>
  %w1 = nn.convert %w1f to bf16 : tensor<64x16xf32>
  %w2f = train.get @w2 : tensor<16x16xf32>
  %w2 = nn.convert %w2f to bf16 : tensor<16x16xf32>
  %h = nn.matmul %x, %w1 : tensor<2x16x64xbf16>, tensor<64x16xbf16>
  %a = nn.relu %h : tensor<2x16x16xbf16>
  %y = nn.matmul %a, %w2 : tensor<2x16x16xbf16>, tensor<16x16xbf16>
  %l = nn.reduce sum %y over [0, 1, 2] to f32 : tensor<2x16x16xbf16>
  train.set @loss, %l : tensor<f32>
  %one = nn.constant 1 : tensor<2x16x16xbf16>
  %dw2 = nn.matmul %a transposed, %one reduce_batch to f32 : tensor<2x16x16xbf16>, tensor<2x16x16xbf16>
  %da = nn.matmul %one, %w2 transposed : tensor<2x16x16xbf16>, tensor<16x16xbf16>
  %dh = nn.mul %da, %a : tensor<2x16x16xbf16>, tensor<2x16x16xbf16>
  %dw1 = nn.matmul %x transposed, %dh reduce_batch to f32 : tensor<2x16x64xbf16>, tensor<2x16x16xbf16>
  train.gradient @w1, %dw1 : tensor<64x16xf32>
  train.gradient @w2, %dw2 : tensor<16x16xf32>
}

// The parameter has 64 rows, the activations have 32, and those with fewer come first.
// CHECK: train.state optimizer @fp8_scales.values : tensor<32xf32> {members = [#train.member<"fp8_scale.product.value", 0, tensor<f32>>, #train.member<"fp8_scale.product.parameter", 16, tensor<f32>>]}
// CHECK: train.state optimizer @fp8_amaxes.values : tensor<32xf32> {members = [#train.member<"fp8_amax.product.value", 0, tensor<16xf32>>, #train.member<"fp8_amax.product.parameter", 16, tensor<16xf32>>]}
// CHECK: train.state optimizer @fp8_scales.gradients : tensor<16xf32> {members = [#train.member<"fp8_scale.product.gradient", 0, tensor<f32>>]}
// CHECK: train.state optimizer @fp8_amaxes.gradients : tensor<16xf32>

// Gradients of a mean over 32 samples are of the size of 1/32.
// CHECK-LABEL: train.entry @init
// CHECK-DAG: %[[ONE:.*]] = nn.constant 1 : tensor<32xf32>
// CHECK-DAG: %[[SMALL:.*]] = nn.constant 0.03125 : tensor<16xf32>
// CHECK: train.set @fp8_scales.values, %[[ONE]]
// CHECK: train.set @fp8_amaxes.values
// CHECK: train.set @fp8_scales.gradients, %[[SMALL]]

// CHECK-LABEL: train.entry @micro_step
// CHECK-DAG: %[[SCALES:.*]] = train.get @fp8_scales.values
// CHECK-DAG: %[[INVERSES:.*]] = nn.reciprocal %[[SCALES]]
// CHECK-DAG: %[[GSCALES:.*]] = train.get @fp8_scales.gradients
// CHECK-DAG: %[[GINVERSES:.*]] = nn.reciprocal %[[GSCALES]]
// CHECK: %[[XABS:.*]] = nn.abs %[[X:.*]] : tensor<2x16x64xbf16>
// CHECK: %[[XROWS:.*]] = nn.reduce max %[[XABS]] over [2] to f32
// CHECK: %[[WIDE:.*]] = nn.convert %[[X]] to f32
// CHECK: %[[XI:.*]] = dist.member %[[INVERSES]] at 0 : tensor<32xf32> -> tensor<f32>
// CHECK: %[[XB:.*]] = nn.broadcast %[[XI]] to [2, 16, 64]
// CHECK: %[[XD:.*]] = nn.mul %[[WIDE]], %[[XB]]
// CHECK: %[[X8:.*]] = nn.convert %[[XD]] to f8E4M3FN
// CHECK: %[[XS:.*]] = dist.member %[[SCALES]] at 0
// CHECK: %[[WROWS:.*]] = nn.reduce max %{{.*}} over [1] to f32 : tensor<64x16xbf16>
// CHECK: dist.member %[[INVERSES]] at 16
// CHECK: %[[W8:.*]] = nn.convert %{{.*}} to f8E4M3FN : tensor<64x16xf32>
// CHECK: %[[WS:.*]] = dist.member %[[SCALES]] at 16
// CHECK: %[[W8T:.*]] = nn.transpose %[[W8]] by [1, 0]
// CHECK: %[[H:.*]] = nn.matmul %[[X8]], %[[W8T]] transposed to bf16 scaled %[[XS]], %[[WS]]
// CHECK: %[[A:.*]] = nn.relu %[[H]]
// CHECK: nn.matmul %[[A]], %{{.*}} : tensor<2x16x16xbf16>, tensor<16x16xbf16>
// CHECK: nn.matmul %[[A]] transposed, %{{.*}} reduce_batch to f32 : tensor<2x16x16xbf16>
// CHECK: %[[DA:.*]] = nn.matmul %{{.*}} transposed : tensor<2x16x16xbf16>, tensor<16x16xbf16>
// CHECK: %[[DH:.*]] = nn.mul %[[DA]], %[[A]]
// CHECK: %[[GROWS:.*]] = nn.reduce max %{{.*}} over [2] to f32
// CHECK: %[[G8:.*]] = nn.convert %{{.*}} to f8E5M2
// CHECK: %[[GS:.*]] = dist.member %[[GSCALES]] at 0
// CHECK: %[[XJ:.*]] = nn.reshape %[[X8]] to [32, 64]
// CHECK: %[[GJ:.*]] = nn.reshape %[[G8]] to [32, 16]
// CHECK: %[[XT:.*]] = nn.transpose %[[XJ]] by [1, 0]
// CHECK: %[[GT:.*]] = nn.transpose %[[GJ]] by [1, 0]
// CHECK: %[[DW:.*]] = nn.matmul %[[XT]], %[[GT]] transposed to f32 scaled %[[XS]], %[[GS]] : tensor<f32>, tensor<f32> : tensor<64x32xf8E4M3FN>, tensor<16x32xf8E5M2>
// CHECK: train.gradient @w1, %[[DW]]
// CHECK: %[[XM:.*]] = dist.pack %[[XROWS]] at [0] : tensor<2x16xf32> -> tensor<32xf32>
// CHECK: %[[XM2:.*]] = nn.reshape %[[XM]] to [1, 32]
// CHECK: %[[XM3:.*]] = nn.reduce max %[[XM2]] over [1]
// CHECK: dist.pack %[[WROWS]] at [0] : tensor<64xf32> -> tensor<64xf32>
// CHECK: %[[BOTH:.*]] = nn.concat dim 0 %[[XM3]], %{{.*}}
// CHECK: train.magnitudes %[[BOTH]] of @fp8_scales.values history @fp8_amaxes.values limit 448 : tensor<2xf32>
// CHECK: train.magnitudes %{{.*}} of @fp8_scales.gradients history @fp8_amaxes.gradients limit 57344 : tensor<1xf32>

// -----

// The backward of a layer in the middle rounds its parameter a second time, after a barrier.

// CHECK-LABEL: train.program @middle
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[W:.*]] = nn.convert %{{.*}} to bf16 : tensor<16x16xf32>
// CHECK: nn.matmul {{.*}} : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E4M3FN>
// CHECK: %[[AGAIN:.*]] = nn.barrier %[[W]]
// CHECK: nn.convert %[[AGAIN]] to f32
// CHECK: nn.matmul %{{.*}}, %{{.*}} transposed to bf16 scaled {{.*}} : tensor<16x16xf8E5M2>, tensor<16x16xf8E4M3FN>
// CHECK: nn.matmul {{.*}} : tensor<16x16xf8E4M3FN>, tensor<16x16xf8E5M2>
train.program @middle { model @m  optimizer sgd  batch 16  precision bf16 product_type fp8 }
train.state parameter @w : tensor<16x16xf32>
train.state scalar from_device @loss : tensor<f32>
train.entry @init {
}
train.entry @micro_step {
  %x = train.input "x" micro : tensor<16x16xbf16>
  %wf = train.get @w : tensor<16x16xf32>
  %w = nn.convert %wf to bf16 : tensor<16x16xf32>
  %h = nn.matmul %x, %w : tensor<16x16xbf16>, tensor<16x16xbf16>
  %y = nn.matmul %h, %h : tensor<16x16xbf16>, tensor<16x16xbf16>
  %l = nn.reduce sum %y over [0, 1] to f32 : tensor<16x16xbf16>
  train.set @loss, %l : tensor<f32>
  %one = nn.constant 1 : tensor<16x16xbf16>
  %dh = nn.matmul %one, %h transposed : tensor<16x16xbf16>, tensor<16x16xbf16>
  %dx = nn.matmul %dh, %w transposed : tensor<16x16xbf16>, tensor<16x16xbf16>
  %dw = nn.matmul %dx transposed, %dh to f32 : tensor<16x16xbf16>, tensor<16x16xbf16>
  %dw1 = nn.matmul %x transposed, %dh to f32 : tensor<16x16xbf16>, tensor<16x16xbf16>
  %sum = nn.add %dw, %dw1 : tensor<16x16xf32>, tensor<16x16xf32>
  train.gradient @w, %sum : tensor<16x16xf32>
}
