// RUN: trainc-opt %s --split-input-file --widen-gradients | FileCheck %s

train.state parameter @w : tensor<64x32xf32>
train.state parameter @b : tensor<32xf32>
train.state parameter @table : tensor<64x32xf32>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x64xbf16>
  %dy = train.input "dy" micro : tensor<8x32xbf16>
  %rows = train.input "rows" micro : tensor<64x32xf32>
  // CHECK: %[[W:.*]] = nn.matmul %{{.*}} transposed, %{{.*}} to f32 : tensor<8x64xbf16>, tensor<8x32xbf16>
  %w = nn.matmul %x transposed, %dy : tensor<8x64xbf16>, tensor<8x32xbf16>
  %wide = nn.convert %w to f32 : tensor<64x32xbf16>
  // CHECK-NEXT: train.gradient @w, %[[W]] : tensor<64x32xf32>
  train.gradient @w, %wide : tensor<64x32xf32>
  // CHECK-NEXT: %[[SUM:.*]] = nn.reduce sum %{{.*}} over [0] to f32 : tensor<8x32xbf16>
  // CHECK-NEXT: %[[B:.*]] = nn.reshape %[[SUM]] to [32] : tensor<32xf32>
  %sum = nn.reduce sum %dy over [0] : tensor<8x32xbf16>
  %b = nn.reshape %sum to [32] : tensor<32xbf16>
  %wide_b = nn.convert %b to f32 : tensor<32xbf16>
  // CHECK-NEXT: train.gradient @b, %[[B]] : tensor<32xf32>
  train.gradient @b, %wide_b : tensor<32xf32>
  // Two uses of a parameter: both parts, and their sum, are f32; what was rounded is taken before.
  // CHECK: %[[FIRST:.*]] = nn.matmul %{{.*}} transposed, %{{.*}} to f32
  // CHECK: %[[BOTH:.*]] = nn.add %[[FIRST]], %{{.*}} : tensor<64x32xf32>, tensor<64x32xf32>
  %first = nn.matmul %x transposed, %dy : tensor<8x64xbf16>, tensor<8x32xbf16>
  %second = nn.convert %rows to bf16 : tensor<64x32xf32>
  %both = nn.add %first, %second : tensor<64x32xbf16>, tensor<64x32xbf16>
  %wide_both = nn.convert %both to f32 : tensor<64x32xbf16>
  // CHECK: train.gradient @table, %[[BOTH]] : tensor<64x32xf32>
  train.gradient @table, %wide_both : tensor<64x32xf32>
}

// -----

// Others read the product as well: it stays, and is cast.

train.state parameter @w : tensor<64x32xf32>
train.state parameter @v : tensor<64x32xf32>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x64xbf16>
  %dy = train.input "dy" micro : tensor<8x32xbf16>
  // CHECK: %[[G:.*]] = nn.matmul %{{.*}} transposed, %{{.*}} : tensor<8x64xbf16>, tensor<8x32xbf16>
  %g = nn.matmul %x transposed, %dy : tensor<8x64xbf16>, tensor<8x32xbf16>
  %twice = nn.add %g, %g : tensor<64x32xbf16>, tensor<64x32xbf16>
  %wide = nn.convert %g to f32 : tensor<64x32xbf16>
  %wide_twice = nn.convert %twice to f32 : tensor<64x32xbf16>
  // CHECK: nn.convert %[[G]] to f32
  train.gradient @w, %wide : tensor<64x32xf32>
  train.gradient @v, %wide_twice : tensor<64x32xf32>
}

// -----

// The parameter is held in bf16: its gradient is f32 all the same.

train.state parameter @w : tensor<64x32xbf16>
train.state parameter @v : tensor<8x32xbf16>
train.state output @y : tensor<8x32xbf16>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x64xbf16>
  %dy = train.input "dy" micro : tensor<8x32xbf16>
  // CHECK: %[[W:.*]] = nn.matmul %{{.*}} transposed, %{{.*}} to f32 : tensor<8x64xbf16>, tensor<8x32xbf16>
  // CHECK-NEXT: train.gradient @w, %[[W]] : tensor<64x32xf32>
  %w = nn.matmul %x transposed, %dy : tensor<8x64xbf16>, tensor<8x32xbf16>
  train.gradient @w, %w : tensor<64x32xbf16>
  // CHECK-NEXT: %[[V:.*]] = nn.tanh
  // CHECK-NEXT: %[[WIDE:.*]] = nn.convert %[[V]] to f32
  // CHECK-NEXT: train.gradient @v, %[[WIDE]] : tensor<8x32xf32>
  %v = nn.tanh %dy : tensor<8x32xbf16>
  train.gradient @v, %v : tensor<8x32xbf16>
  train.set @y, %v : tensor<8x32xbf16>
}
