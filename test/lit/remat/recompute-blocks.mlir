// RUN: trainc-opt --recompute-blocks %s | FileCheck %s
// RUN: trainc-opt --recompute-blocks --canonicalize --cse %s | FileCheck %s
// RUN: trainc-opt --recompute-blocks=keep=100 %s | FileCheck %s --check-prefix=ALL
// RUN: trainc-opt --recompute-blocks=keep=0,100 %s | FileCheck %s --check-prefix=FIRST
// RUN: trainc-opt --recompute-blocks=keep=60 %s | FileCheck %s --check-prefix=SOME
// RUN: trainc-opt --recompute-blocks=blocks=inner %s | FileCheck %s --check-prefix=INNER

train.state scalar from_device @loss : tensor<f32>
train.state parameter @w : tensor<16x64xf32>
train.state parameter @v : tensor<64x16xf32>
train.state gradient @dw : tensor<16x64xf32>
train.state gradient @dv : tensor<64x16xf32>
train.state gradient @dq : tensor<8x8xf32>
train.state scalar to_device @seed : tensor<i64>

// Two blocks in a row: the input of each, %x and %y, is kept. Each block is recomputed right before its backward, the second one first.
// The output of a block is not recomputed, because the backward does not read the sum.
// CHECK-LABEL: train.entry @chain as micro_step
// CHECK: %[[X:.*]] = train.input
// CHECK: %[[Y:.*]] = nn.add %[[X]]
// CHECK: train.set @loss
// CHECK-NEXT: %[[DZ:.*]] = nn.square
// CHECK-NEXT: %[[KEPT:.*]] = nn.barrier %[[Y]]
// CHECK-NEXT: %[[H:.*]] = nn.matmul %[[KEPT]], %[[W:.*]] :
// CHECK-NEXT: %[[G:.*]] = nn.gelu %[[H]]
// CHECK-NEXT: nn.matmul %[[G]] transposed, %[[DZ]]
// CHECK-NEXT: nn.exp %[[H]]
// CHECK-NEXT: %[[DH:.*]] = nn.matmul
// CHECK-NEXT: %[[DY:.*]] = nn.matmul %[[DH]], %[[W]] transposed
// CHECK-NEXT: nn.matmul %[[Y]] transposed
// CHECK-NEXT: %[[KEPT:.*]] = nn.barrier %[[X]]
// CHECK-NEXT: %[[H:.*]] = nn.matmul %[[KEPT]], %[[W]] :
// CHECK-NEXT: %[[G:.*]] = nn.gelu %[[H]]
// CHECK-NEXT: nn.matmul %[[G]] transposed, %[[DY]]
// CHECK-NEXT: nn.exp %[[H]]
// ALL-LABEL: train.entry @chain as micro_step
// ALL-NOT: nn.barrier
// The second of the two blocks keeps all values.
// FIRST-LABEL: train.entry @chain as micro_step
// FIRST: %[[X:.*]] = train.input
// FIRST: train.set @loss
// FIRST-NOT: nn.barrier
// FIRST: nn.barrier %[[X]]
// FIRST-NEXT: nn.matmul
// FIRST-NEXT: nn.gelu
// FIRST-NOT: nn.barrier
// FIRST-LABEL: train.entry @nested
// There is room for one of %h and %g: with the product %h saves more.
// SOME-LABEL: train.entry @chain as micro_step
// SOME: %[[H1:.*]] = nn.matmul
// SOME: %[[H2:.*]] = nn.matmul %{{.*}}, %{{.*}} : tensor<8x16xf32>, tensor<16x64xf32>
// SOME: train.set @loss
// SOME-NEXT: nn.square
// SOME-NEXT: %[[KEPT:.*]] = nn.barrier %[[H2]]
// SOME-NEXT: nn.gelu %[[KEPT]]
// SOME-NEXT: nn.matmul
// SOME-NEXT: nn.exp %[[H2]]
// SOME: nn.barrier %[[H1]]
// SOME-NEXT: nn.gelu
train.entry @chain as micro_step {
  %x = train.input "x" micro : tensor<8x16xf32>
  %w = train.get @w : tensor<16x64xf32>
  %v = train.get @v : tensor<64x16xf32>
  %h1 = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x64xf32>
  %g1 = nn.gelu %h1 : tensor<8x64xf32>
  %m1 = nn.matmul %g1, %v : tensor<8x64xf32>, tensor<64x16xf32>
  %y = nn.add %x, %m1 : tensor<8x16xf32>, tensor<8x16xf32>
  train.block_use <"h.0", "layer"> from %x to %y : tensor<8x16xf32> to tensor<8x16xf32>
  %h2 = nn.matmul %y, %w : tensor<8x16xf32>, tensor<16x64xf32>
  %g2 = nn.gelu %h2 : tensor<8x64xf32>
  %m2 = nn.matmul %g2, %v : tensor<8x64xf32>, tensor<64x16xf32>
  %z = nn.add %y, %m2 : tensor<8x16xf32>, tensor<8x16xf32>
  train.block_use <"h.1", "layer"> from %y to %z : tensor<8x16xf32> to tensor<8x16xf32>
  %loss = nn.reduce sum %z over [0, 1] : tensor<8x16xf32>
  train.set @loss, %loss : tensor<f32>
  %dz = nn.square %z : tensor<8x16xf32>
  %dv2 = nn.matmul %g2 transposed, %dz : tensor<8x64xf32>, tensor<8x16xf32>
  %s2 = nn.exp %h2 : tensor<8x64xf32>
  %dh2 = nn.matmul %dz, %v transposed : tensor<8x16xf32>, tensor<64x16xf32>
  %dy = nn.matmul %dh2, %w transposed : tensor<8x64xf32>, tensor<16x64xf32>
  %dw2 = nn.matmul %y transposed, %s2 : tensor<8x16xf32>, tensor<8x64xf32>
  %dv1 = nn.matmul %g1 transposed, %dy : tensor<8x64xf32>, tensor<8x16xf32>
  %s1 = nn.exp %h1 : tensor<8x64xf32>
  %dw1 = nn.matmul %x transposed, %s1 : tensor<8x16xf32>, tensor<8x64xf32>
  %dw = nn.add %dw1, %dw2 : tensor<16x64xf32>, tensor<16x64xf32>
  %dv = nn.add %dv1, %dv2 : tensor<64x16xf32>, tensor<64x16xf32>
  train.set @dw, %dw : tensor<16x64xf32>
  train.set @dv, %dv : tensor<64x16xf32>
}

// Casts are next to the values that they cast: the cast that widens %y comes before the first block's boundary, but belongs to the second
// block. The plan does not keep its result in addition to %y.
// CHECK-LABEL: train.entry @widened as micro_step
// CHECK: %[[Y:.*]] = nn.matmul
// CHECK: train.set @loss
// CHECK-NEXT: %[[KEPT:.*]] = nn.barrier %[[Y]] : tensor<8x8xbf16>
// CHECK-NEXT: %[[W:.*]] = nn.convert %[[KEPT]] to f32
// CHECK-NEXT: nn.gelu %[[W]]
// CHECK-NOT: nn.barrier
train.entry @widened as micro_step {
  %i = train.input "x" micro : tensor<8x16xf32>
  %x = nn.convert %i to bf16 : tensor<8x16xf32>
  %y = nn.matmul %x, %x transposed : tensor<8x16xbf16>, tensor<8x16xbf16>
  %w = nn.convert %y to f32 : tensor<8x8xbf16>
  train.block_use <"h.0", "layer"> from %x to %y : tensor<8x16xbf16> to tensor<8x8xbf16>
  %g = nn.gelu %w : tensor<8x8xf32>
  %z = nn.square %g : tensor<8x8xf32>
  train.block_use <"h.1", "layer"> from %y to %z : tensor<8x8xbf16> to tensor<8x8xf32>
  %loss = nn.reduce sum %z over [0, 1] : tensor<8x8xf32>
  train.set @loss, %loss : tensor<f32>
  %d = nn.exp %g : tensor<8x8xf32>
  %dw = nn.matmul %d transposed, %d : tensor<8x8xf32>, tensor<8x8xf32>
  train.set @dq, %dw : tensor<8x8xf32>
}

// The outermost use is recomputed, or the named inner use, whose output is kept. Dropout is recomputed with the same random numbers. %a,
// which the loss also reads, is an output of the block and is kept.
// CHECK-LABEL: train.entry @nested as micro_step
// CHECK: %[[X:.*]] = train.input
// CHECK: %[[A:.*]] = nn.matmul %[[X]]
// CHECK: train.set @loss
// CHECK: %[[DY:.*]] = nn.square
// CHECK: %[[KEPT:.*]] = nn.barrier %[[A]]
// CHECK-NEXT: %[[E:.*]] = nn.exp %[[KEPT]]
// CHECK: %[[D:.*]] = nn.select %{{.*}}, %[[E]]
// CHECK-NEXT: %[[G:.*]] = nn.gelu %[[D]]
// CHECK-NEXT: %[[T:.*]] = nn.tanh %[[G]]
// CHECK-NEXT: nn.matmul %[[T]] transposed, %[[DY]]
// CHECK-NEXT: nn.square %[[A]]
// CHECK-NEXT: nn.exp %[[G]]
// CHECK-NOT: nn.barrier
// INNER-LABEL: train.entry @chain
// INNER-NOT: nn.barrier
// INNER-LABEL: train.entry @nested as micro_step
// INNER: %[[D:.*]] = nn.select
// INNER: train.set @loss
// INNER: nn.matmul %{{.*}} transposed
// INNER: %[[KEPT:.*]] = nn.barrier %[[D]]
// INNER-NEXT: %[[G:.*]] = nn.gelu %[[KEPT]]
// INNER-NEXT: nn.exp %[[G]]
// INNER-NOT: nn.barrier
train.entry @nested as micro_step {
  %x = train.input "x" micro : tensor<8x16xf32>
  %w = train.get @w : tensor<16x64xf32>
  %v = train.get @v : tensor<64x16xf32>
  %seed = train.get @seed : tensor<i64>
  %zero = nn.constant 0 : tensor<8x64xf32>
  %p = nn.constant 0.1 : tensor<8x64xf32>
  %a = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x64xf32>
  %e = nn.exp %a : tensor<8x64xf32>
  %u = nn.random stream 7 seed %seed step %seed offset %seed : tensor<8x64xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  %mask = nn.compare ge %u, %p : tensor<8x64xf32>, tensor<8x64xf32>
  %d = nn.select %mask, %e, %zero : tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>
  %g = nn.gelu %d : tensor<8x64xf32>
  %t = nn.tanh %g : tensor<8x64xf32>
  train.block_use <"h.mlp", "inner"> from %d to %t : tensor<8x64xf32> to tensor<8x64xf32>
  %m = nn.matmul %t, %v : tensor<8x64xf32>, tensor<64x16xf32>
  train.block_use <"h", "outer"> from %x to %m : tensor<8x16xf32> to tensor<8x16xf32>
  %sum = nn.reduce sum %m over [0, 1] : tensor<8x16xf32>
  %other = nn.reduce sum %a over [0, 1] : tensor<8x64xf32>
  %loss = nn.add %sum, %other : tensor<f32>, tensor<f32>
  train.set @loss, %loss : tensor<f32>
  %dy = nn.square %m : tensor<8x16xf32>
  %dv = nn.matmul %t transposed, %dy : tensor<8x64xf32>, tensor<8x16xf32>
  %s = nn.square %a : tensor<8x64xf32>
  %dt = nn.exp %g : tensor<8x64xf32>
  %sum2 = nn.add %s, %dt : tensor<8x64xf32>, tensor<8x64xf32>
  %dw = nn.matmul %x transposed, %sum2 : tensor<8x16xf32>, tensor<8x64xf32>
  train.set @dw, %dw : tensor<16x64xf32>
  train.set @dv, %dv : tensor<64x16xf32>
}
