// RUN: trainc-opt --recompute %s | FileCheck %s
// RUN: trainc-opt --recompute --canonicalize --cse %s | FileCheck %s
// RUN: trainc-opt --recompute --fuse %s | FileCheck %s --check-prefix=FUSED

train.state scalar from_device @loss : tensor<f32>
train.state parameter @w : tensor<16x64xf32>
train.state parameter @v : tensor<64x16xf32>
train.state parameter @scale : tensor<64xf32>
train.state scalar to_device @seed : tensor<i64>
train.state gradient @dw : tensor<64x16xf32>
train.state gradient @dv : tensor<64x16xf32>
train.state gradient @dx : tensor<8x64xf32>
train.state gradient @dc : tensor<8x16xf32>

// The backward reads %h for the slope in any case, and recomputes %g from it, after a barrier. No kernel computes both. Ops after the loss
// are fused with it if they read the same values.
// CHECK-LABEL: train.entry @activation as micro_step
// CHECK: %[[H:.*]] = nn.matmul
// CHECK: nn.gelu %[[H]]
// CHECK: train.set @loss
// CHECK: %[[DY:.*]] = nn.square
// CHECK-NEXT: %[[KEPT:.*]] = nn.barrier %[[H]] : tensor<8x64xf32>
// CHECK-NEXT: %[[AGAIN:.*]] = nn.gelu %[[KEPT]]
// CHECK-NEXT: nn.matmul %[[AGAIN]] transposed, %[[DY]]
// CHECK-NEXT: %[[SLOPE:.*]] = nn.exp %[[H]]
// CHECK-NOT: nn.gelu
// FUSED-LABEL: train.entry @activation as micro_step
// FUSED: nn.kernel
// FUSED-NEXT: nn.gelu
// FUSED-NEXT: nn.yield
// FUSED: nn.kernel
// FUSED-NEXT: nn.reduce sum
// FUSED-NEXT: nn.square
// FUSED-NEXT: nn.yield
// FUSED: train.set @loss
// FUSED: %[[KEPT:.*]] = nn.barrier
// FUSED-NEXT: %[[AGAIN:.*]] = nn.kernel {{.*}} = %[[KEPT]] : tensor<8x64xf32>) -> (tensor<8x64xf32>) {
// FUSED-NEXT: nn.gelu
// FUSED-NEXT: nn.yield
// FUSED: nn.matmul %[[AGAIN]] transposed
// FUSED: nn.kernel
// FUSED-NEXT: nn.exp
train.entry @activation as micro_step {
  %x = train.input "x" micro : tensor<8x16xf32>
  %w = train.get @w : tensor<16x64xf32>
  %v = train.get @v : tensor<64x16xf32>
  %h = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x64xf32>
  %g = nn.gelu %h : tensor<8x64xf32>
  %y = nn.matmul %g, %v : tensor<8x64xf32>, tensor<64x16xf32>
  %loss = nn.reduce sum %y over [0, 1] : tensor<8x16xf32>
  train.set @loss, %loss : tensor<f32>
  %dy = nn.square %y : tensor<8x16xf32>
  %dv = nn.matmul %g transposed, %dy : tensor<8x64xf32>, tensor<8x16xf32>
  %slope = nn.exp %h : tensor<8x64xf32>
  %dg = nn.matmul %dy, %v transposed : tensor<8x16xf32>, tensor<64x16xf32>
  %dh = nn.mul %dg, %slope : tensor<8x64xf32>, tensor<8x64xf32>
  train.set @dw, %dv : tensor<64x16xf32>
  train.set @dx, %dh : tensor<8x64xf32>
}

// Rows and their maxima. The backward does not read the maxima, but they are small. %shifted is recomputed from the rows and the maxima,
// and so is the product of %shifted and a parameter, with its view.
// CHECK-LABEL: train.entry @rows as micro_step
// CHECK: %[[H:.*]] = nn.matmul
// CHECK: %[[MAX:.*]] = nn.reduce max %[[H]]
// CHECK: %[[COLUMN:.*]] = nn.reshape %[[MAX]] to [8, 1]
// CHECK: %[[SCALE:.*]] = nn.broadcast %{{.*}} to [8, 64] : tensor<64xf32>
// CHECK: train.set @loss
// CHECK: %[[KEPT:.*]] = nn.barrier %[[H]] : tensor<8x64xf32>
// CHECK: %[[KEPT_COLUMN:.*]] = nn.barrier %[[COLUMN]] : tensor<8x1xf32>
// CHECK: %[[ROWS:.*]] = nn.broadcast %[[KEPT_COLUMN]] to [8, 64]
// CHECK: %[[AGAIN:.*]] = nn.sub %[[KEPT]], %[[ROWS]]
// CHECK: %[[SCALED:.*]] = nn.mul %[[AGAIN]], %[[SCALE]]
// CHECK: %[[VIEW:.*]] = nn.reshape %[[SCALED]] to [64, 8]
// CHECK: nn.matmul %[[VIEW]]
train.entry @rows as micro_step {
  %x = train.input "x" micro : tensor<8x16xf32>
  %w = train.get @w : tensor<16x64xf32>
  %scale = train.get @scale : tensor<64xf32>
  %h = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x64xf32>
  %max = nn.reduce max %h over [1] : tensor<8x64xf32>
  %column = nn.reshape %max to [8, 1] : tensor<8xf32>
  %maxima = nn.broadcast %column to [8, 64] : tensor<8x1xf32>
  %shifted = nn.sub %h, %maxima : tensor<8x64xf32>, tensor<8x64xf32>
  %scales = nn.broadcast %scale to [8, 64] : tensor<64xf32>
  %scaled = nn.mul %shifted, %scales : tensor<8x64xf32>, tensor<8x64xf32>
  %view = nn.reshape %scaled to [64, 8] : tensor<8x64xf32>
  %exp = nn.exp %view : tensor<64x8xf32>
  %loss = nn.reduce sum %exp over [0, 1] : tensor<64x8xf32>
  train.set @loss, %loss : tensor<f32>
  %dy = nn.square %x : tensor<8x16xf32>
  %dw = nn.matmul %view, %dy : tensor<64x8xf32>, tensor<8x16xf32>
  %dh = nn.square %h : tensor<8x64xf32>
  train.set @dw, %dw : tensor<64x16xf32>
  train.set @dx, %dh : tensor<8x64xf32>
}

// Masks are computed where they are read, from the same random numbers. Values computed from a mask and kept values are recomputed.
// CHECK-LABEL: train.entry @dropout as micro_step
// CHECK: %[[H:.*]] = nn.matmul
// CHECK: %[[MASK:.*]] = nn.compare
// CHECK: train.set @loss
// CHECK: %[[KEPT:.*]] = nn.barrier %[[H]]
// CHECK-NEXT: %[[G:.*]] = nn.gelu %[[KEPT]]
// CHECK-NEXT: %[[AGAIN:.*]] = nn.select %[[MASK]], %[[G]], %{{.*}}
// CHECK: nn.matmul %[[AGAIN]] transposed
// CHECK: nn.select %[[MASK]], %[[H]]
train.entry @dropout as micro_step {
  %x = train.input "x" micro : tensor<8x16xf32>
  %w = train.get @w : tensor<16x64xf32>
  %v = train.get @v : tensor<64x16xf32>
  %seed = train.get @seed : tensor<i64>
  %zero = nn.constant 0 : tensor<8x64xf32>
  %p = nn.constant 0.1 : tensor<8x64xf32>
  %h = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x64xf32>
  %g = nn.gelu %h : tensor<8x64xf32>
  %u = nn.random stream 7 seed %seed step %seed offset %seed : tensor<8x64xf32> : tensor<i64>, tensor<i64>, tensor<i64>
  %mask = nn.compare ge %u, %p : tensor<8x64xf32>, tensor<8x64xf32>
  %d = nn.select %mask, %g, %zero : tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>
  %y = nn.matmul %d, %v : tensor<8x64xf32>, tensor<64x16xf32>
  %loss = nn.reduce sum %y over [0, 1] : tensor<8x16xf32>
  train.set @loss, %loss : tensor<f32>
  %dy = nn.square %y : tensor<8x16xf32>
  %dv = nn.matmul %d transposed, %dy : tensor<8x64xf32>, tensor<8x16xf32>
  %dh = nn.select %mask, %h, %zero : tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>
  train.set @dw, %dv : tensor<64x16xf32>
  train.set @dx, %dh : tensor<8x64xf32>
}

// Kept: values computed from a product that the backward does not read (%a), by more than 16 ops (%b), or from values of more than four
// times their bytes (%c).
// CHECK-LABEL: train.entry @kept as micro_step
// CHECK-NOT: nn.barrier
train.entry @kept as micro_step {
  %x = train.input "x" micro : tensor<8x16xf32>
  %w = train.get @w : tensor<16x64xf32>
  %h = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x64xf32>
  %a = nn.gelu %h : tensor<8x64xf32>
  %b1 = nn.exp %a : tensor<8x64xf32>
  %b2 = nn.tanh %b1 : tensor<8x64xf32>
  %b3 = nn.exp %b2 : tensor<8x64xf32>
  %b4 = nn.tanh %b3 : tensor<8x64xf32>
  %b5 = nn.exp %b4 : tensor<8x64xf32>
  %b6 = nn.tanh %b5 : tensor<8x64xf32>
  %b7 = nn.exp %b6 : tensor<8x64xf32>
  %b8 = nn.tanh %b7 : tensor<8x64xf32>
  %b9 = nn.exp %b8 : tensor<8x64xf32>
  %b10 = nn.tanh %b9 : tensor<8x64xf32>
  %b11 = nn.exp %b10 : tensor<8x64xf32>
  %b12 = nn.tanh %b11 : tensor<8x64xf32>
  %b13 = nn.exp %b12 : tensor<8x64xf32>
  %b14 = nn.tanh %b13 : tensor<8x64xf32>
  %b15 = nn.exp %b14 : tensor<8x64xf32>
  %b16 = nn.tanh %b15 : tensor<8x64xf32>
  %b = nn.exp %b16 : tensor<8x64xf32>
  %c = nn.slice %a dim 1 from 0 size 8 : tensor<8x64xf32>
  %s = nn.reduce sum %b over [0, 1] : tensor<8x64xf32>
  %t = nn.reduce sum %c over [0, 1] : tensor<8x8xf32>
  %loss = nn.add %s, %t : tensor<f32>, tensor<f32>
  train.set @loss, %loss : tensor<f32>
  %da = nn.matmul %a transposed, %x : tensor<8x64xf32>, tensor<8x16xf32>
  %db = nn.matmul %b transposed, %x : tensor<8x64xf32>, tensor<8x16xf32>
  %dc = nn.matmul %c transposed, %x : tensor<8x8xf32>, tensor<8x16xf32>
  train.set @dw, %da : tensor<64x16xf32>
  train.set @dv, %db : tensor<64x16xf32>
  train.set @dc, %dc : tensor<8x16xf32>
}

// 16-bit numbers, as the pass round-saved leaves them. %g is recomputed from the bf16 %low, not from its f32 copy. %a is computed from %exact,
// but the backward reads only the rounded %exact: both are kept.
// CHECK-LABEL: train.entry @rounded as micro_step
// CHECK: %[[LOW:.*]] = nn.matmul
// CHECK: nn.gelu
// CHECK: train.set @loss
// CHECK: %[[KEPT:.*]] = nn.barrier %[[LOW]] : tensor<8x64xbf16>
// CHECK: %[[WIDE:.*]] = nn.convert %[[KEPT]] to f32
// CHECK: %[[AGAIN:.*]] = nn.gelu %[[WIDE]]
// CHECK: %[[ROUNDED:.*]] = nn.convert %[[AGAIN]] to bf16
// CHECK: nn.matmul %[[ROUNDED]] transposed
// CHECK-NOT: nn.barrier
train.entry @rounded as micro_step {
  %x = train.input "x" micro : tensor<8x16xbf16>
  %w = train.get @w : tensor<16x64xf32>
  %short = nn.convert %w to bf16 : tensor<16x64xf32>
  %low = nn.matmul %x, %short : tensor<8x16xbf16>, tensor<16x64xbf16>
  %wide = nn.convert %low to f32 : tensor<8x64xbf16>
  %gelu = nn.gelu %wide : tensor<8x64xf32>
  %g = nn.convert %gelu to bf16 : tensor<8x64xf32>
  %exact = nn.matmul %g, %short transposed to f32 : tensor<8x64xbf16>, tensor<16x64xbf16>
  %saved = nn.convert %exact to bf16 : tensor<8x16xf32>
  %again = nn.convert %saved to f32 : tensor<8x16xbf16>
  %exp = nn.exp %exact : tensor<8x16xf32>
  %a = nn.convert %exp to bf16 : tensor<8x16xf32>
  %y = nn.convert %a to f32 : tensor<8x16xbf16>
  %loss = nn.reduce sum %y over [0, 1] : tensor<8x16xf32>
  train.set @loss, %loss : tensor<f32>
  %dy = nn.mul %again, %y : tensor<8x16xf32>, tensor<8x16xf32>
  %low_dy = nn.convert %dy to bf16 : tensor<8x16xf32>
  %dv = nn.matmul %g transposed, %low_dy to f32 : tensor<8x64xbf16>, tensor<8x16xbf16>
  %dh = nn.square %wide : tensor<8x64xf32>
  train.set @dw, %dv : tensor<64x16xf32>
  train.set @dx, %dh : tensor<8x64xf32>
}

// Nothing is minimised.
// CHECK-LABEL: train.entry @eval
// CHECK-NOT: nn.barrier
train.entry @eval {
  %x = train.input "x" micro : tensor<8x64xf32>
  %y = nn.gelu %x : tensor<8x64xf32>
  train.set @dx, %y : tensor<8x64xf32>
}
