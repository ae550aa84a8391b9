// RUN: trainc-opt %s --narrow-gradients | FileCheck %s
// RUN: sed 's/ranks 2/ranks 1/' %s | trainc-opt --narrow-gradients | FileCheck %s --check-prefix=ALONE
// RUN: sed 's/reduce_type bf16/reduce_type f16/' %s | trainc-opt --narrow-gradients | FileCheck %s --check-prefix=HALF
// RUN: sed 's/reduce_type bf16/reduce_type f32/' %s | trainc-opt --narrow-gradients | FileCheck %s --check-prefix=WIDE

// Products round their sums themselves. Other gradients are cast, member by member, so that they are written directly into the bucket that is sent.
// CHECK: %[[W:.*]] = nn.matmul %{{.*}} transposed, %{{.*}} : tensor<8x64xbf16>, tensor<8x32xbf16>
// CHECK-NEXT: %[[MORE:.*]] = nn.add %{{.*}}, %{{.*}} : tensor<32xf32>, tensor<32xf32>
// CHECK-NEXT: %[[B:.*]] = nn.convert %[[MORE]] to bf16 : tensor<32xf32>
// CHECK-NEXT: %[[FLAT:.*]] = dist.pack %[[W]], %[[B]] at [0, 2048] : tensor<64x32xbf16>, tensor<32xbf16> -> tensor<2304xbf16>
// CHECK-NEXT: %[[LOW:.*]] = train.sum_over_ranks %[[FLAT]] of @bucket.0 : tensor<2304xbf16>
// CHECK-NEXT: %[[SUM:.*]] = nn.convert %[[LOW]] to f32 : tensor<2304xbf16>
// CHECK-NEXT: nn.square %[[SUM]] : tensor<2304xf32>

// Gradients are accumulated in f32.
// CHECK: %[[ADDED:.*]] = nn.matmul %{{.*}} to f32 accumulate
// CHECK-NEXT: %[[ROUNDED:.*]] = nn.convert %[[ADDED]] to bf16 : tensor<64x32xf32>
// CHECK-NEXT: train.set @grad.v, %[[ADDED]]
// CHECK-NEXT: train.sum_over_ranks %[[ROUNDED]] of @v : tensor<64x32xbf16>
// A gradient that has other readers stays f32 for these.
// CHECK: %[[READ:.*]] = nn.matmul %{{.*}} to f32 : tensor<8x64xbf16>, tensor<8x32xbf16>
// CHECK-NEXT: %[[OTHER:.*]] = nn.convert %[[READ]] to bf16
// CHECK-NEXT: nn.square %[[READ]]
// CHECK-NEXT: train.sum_over_ranks %[[OTHER]] of @v : tensor<64x32xbf16>
// A gradient that is already rounded is not rounded a second time.
// CHECK: train.sum_over_ranks %[[WAS:.*]] of @v : tensor<64x32xbf16>
// CHECK-NEXT: nn.convert
// The loss.
// CHECK: train.sum_over_ranks %{{.*}} : tensor<f32>

// ALONE: %[[FLAT:.*]] = dist.pack {{.*}} -> tensor<2304xbf16>
// ALONE-NEXT: nn.convert %[[FLAT]] to f32 : tensor<2304xbf16>
// ALONE-NOT: sum_over_ranks {{.*}} of

// HALF: nn.matmul {{.*}} to f32
// HALF-NEXT: nn.convert {{.*}} to f16
// HALF: train.sum_over_ranks {{.*}} : tensor<2304xf16>

// WIDE-NOT: nn.convert {{.*}} to bf16
// WIDE: train.sum_over_ranks {{.*}} : tensor<2304xf32>
train.program @p { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 precision bf16 reduce_type bf16 }
train.state parameter @bucket.0 : tensor<2304xf32> {members = [#train.member<"w", 0, tensor<64x32xf32>>, #train.member<"b", 2048, tensor<32xf32>>]}
train.state parameter @v : tensor<64x32xf32>
train.state gradient @grad.v : tensor<64x32xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x64xbf16>
  %dy = train.input "dy" micro : tensor<8x32xbf16>
  %vector = train.input "b" micro : tensor<32xf32>
  %w = nn.matmul %x transposed, %dy to f32 : tensor<8x64xbf16>, tensor<8x32xbf16>
  %b = nn.add %vector, %vector : tensor<32xf32>, tensor<32xf32>
  %g = dist.pack %w, %b at [0, 2048] : tensor<64x32xf32>, tensor<32xf32> -> tensor<2304xf32>
  %sum = train.sum_over_ranks %g of @bucket.0 : tensor<2304xf32>
  %use = nn.square %sum : tensor<2304xf32>

  %old = train.get @grad.v : tensor<64x32xf32>
  %added = nn.matmul %x transposed, %dy to f32 accumulate %old : tensor<64x32xf32> : tensor<8x64xbf16>, tensor<8x32xbf16>
  train.set @grad.v, %added : tensor<64x32xf32>
  %sum_v = train.sum_over_ranks %added of @v : tensor<64x32xf32>

  %read = nn.matmul %x transposed, %dy to f32 : tensor<8x64xbf16>, tensor<8x32xbf16>
  %reader = nn.square %read : tensor<64x32xf32>
  %sum_read = train.sum_over_ranks %read of @v : tensor<64x32xf32>

  %rounded = train.input "rounded" micro : tensor<64x32xbf16>
  %widened = nn.convert %rounded to f32 : tensor<64x32xbf16>
  %sum_rounded = train.sum_over_ranks %widened of @v : tensor<64x32xf32>

  %loss = nn.constant 1 : tensor<f32>
  %all = train.sum_over_ranks %loss : tensor<f32>
}
