// RUN: trainc-opt %s --split-input-file --pad-rows | FileCheck %s

// Products by a library and row kernels take padding: 257 numbers of bf16 become 264.
train.program @p { model @m  optimizer sgd  batch 1  target cuda }
train.state parameter @x : tensor<32x64xbf16>
train.state parameter @w : tensor<257x64xbf16>
train.state output @sums : tensor<32xf32>
train.state output @dx : tensor<32x64xbf16>
train.state output @dw : tensor<257x64xbf16>

// CHECK-LABEL: train.entry @init
train.entry @init {
  %x = train.get @x : tensor<32x64xbf16>
  %w = train.get @w : tensor<257x64xbf16>
  // CHECK: nn.matmul %{{.*}}, %{{.*}} transposed {plan.row_padding = array<i64: 0, 0, 7>}
  %y = nn.matmul %x, %w transposed : tensor<32x64xbf16>, tensor<257x64xbf16>
  // Sums are no rows.
  // CHECK: nn.kernel 32 x 257
  // CHECK: {plan.row_padding = array<i64: 7, 0, 7>}
  %s, %g = nn.kernel 32 x 257 (%a = %y : tensor<32x257xbf16>) -> (tensor<32xf32>, tensor<32x257xbf16>) {
    %f = nn.convert %a to f32 : tensor<32x257xbf16>
    %r = nn.reduce sum %f over [1] {nn.pattern = #nn.pattern<32, *257>} : tensor<32x257xf32>
    %b = nn.square %a : tensor<32x257xbf16>
    nn.yield %r, %b : tensor<32xf32>, tensor<32x257xbf16>
  }
  train.set @sums, %s : tensor<32xf32>
  // CHECK: nn.matmul %{{.*}}, %{{.*}} {plan.row_padding = array<i64: 7, 0, 0>}
  %dx = nn.matmul %g, %w : tensor<32x257xbf16>, tensor<257x64xbf16>
  train.set @dx, %dx : tensor<32x64xbf16>
  // CHECK: nn.matmul %{{.*}} transposed, %{{.*}} {plan.row_padding = array<i64: 7, 0, 0>}
  %dw = nn.matmul %g transposed, %x : tensor<32x257xbf16>, tensor<32x64xbf16>
  train.set @dw, %dw : tensor<257x64xbf16>
}

// -----

// Who reads rows as one, or keeps them, takes none; rows that are short have none.
train.program @p { model @m  optimizer sgd  batch 1  target cuda }
train.state parameter @x : tensor<32x64xbf16>
train.state parameter @w : tensor<257x64xbf16>
train.state parameter @v : tensor<65x64xbf16>
train.state output @kept : tensor<32x257xbf16>
train.state output @sums : tensor<16xbf16>
train.state output @short : tensor<32x65xbf16>

// CHECK-LABEL: train.entry @init
// CHECK-NOT: plan.row_padding
train.entry @init {
  %x = train.get @x : tensor<32x64xbf16>
  %w = train.get @w : tensor<257x64xbf16>
  %v = train.get @v : tensor<65x64xbf16>
  %y = nn.matmul %x, %w transposed : tensor<32x64xbf16>, tensor<257x64xbf16>
  train.set @kept, %y : tensor<32x257xbf16>
  %z = nn.matmul %x, %w transposed : tensor<32x64xbf16>, tensor<257x64xbf16>
  %s = nn.kernel 16 x 514 (%a = %z : tensor<32x257xbf16>) -> (tensor<16xbf16>) {
    %t = nn.reshape %a to [16, 514] : tensor<32x257xbf16>
    %r = nn.reduce sum %t over [1] {nn.pattern = #nn.pattern<16, *514>} : tensor<16x514xbf16>
    nn.yield %r : tensor<16xbf16>
  }
  train.set @sums, %s : tensor<16xbf16>
  %n = nn.matmul %x, %v transposed : tensor<32x64xbf16>, tensor<65x64xbf16>
  %q = nn.kernel 32 x 65 (%a = %n : tensor<32x65xbf16>) -> (tensor<32x65xbf16>) {
    %b = nn.square %a : tensor<32x65xbf16>
    nn.yield %b : tensor<32x65xbf16>
  }
  train.set @short, %q : tensor<32x65xbf16>
}

// -----

// On CPUs, rows need no such alignment.
train.state parameter @x : tensor<32x64xf32>
train.state parameter @w : tensor<257x64xf32>
train.state output @sums : tensor<32xf32>

// CHECK-LABEL: train.entry @init
// CHECK-NOT: plan.row_padding
train.entry @init {
  %x = train.get @x : tensor<32x64xf32>
  %w = train.get @w : tensor<257x64xf32>
  %y = nn.matmul %x, %w transposed : tensor<32x64xf32>, tensor<257x64xf32>
  %s = nn.kernel 32 x 257 (%a = %y : tensor<32x257xf32>) -> (tensor<32xf32>) {
    %r = nn.reduce sum %a over [1] {nn.pattern = #nn.pattern<32, *257>} : tensor<32x257xf32>
    nn.yield %r : tensor<32xf32>
  }
  train.set @sums, %s : tensor<32xf32>
}
