// RUN: trainc-opt %s --fuse-epilogues | FileCheck %s
// RUN: trainc-opt %s --fuse-epilogues | trainc-opt | FileCheck %s

train.program @p { model @m  optimizer sgd  batch 1  library_calls products }

// A bias and an activation; what the activation is applied to is needed by somebody else.
// CHECK-LABEL: func.func @both
func.func @both(%x: tensor<2x8x16xf32>, %w: tensor<16x32xf32>, %bias: tensor<32xf32>) -> (tensor<2x8x32xf32>, tensor<2x8x32xf32>) {
  // CHECK-NEXT: nn.broadcast
  // CHECK-NEXT: %[[P:.*]]:2 = nn.product %arg0, %arg1 bias %arg2 : tensor<32xf32> activation gelu_tanh before : tensor<2x8x16xf32>, tensor<16x32xf32>
  // CHECK-NEXT: %[[S:.*]] = nn.square %[[P]]#1
  // CHECK-NEXT: return %[[P]]#0, %[[S]]
  %p = nn.matmul %x, %w : tensor<2x8x16xf32>, tensor<16x32xf32>
  %b = nn.broadcast %bias to [2, 8, 32] : tensor<32xf32>
  %h = nn.add %p, %b : tensor<2x8x32xf32>, tensor<2x8x32xf32>
  %g = nn.gelu %h approximate tanh : tensor<2x8x32xf32>
  %s = nn.square %h : tensor<2x8x32xf32>
  return %g, %s : tensor<2x8x32xf32>, tensor<2x8x32xf32>
}

// A bias without an activation, as the other operand of the sum; the product is placed after the bias.
// CHECK-LABEL: func.func @bias
func.func @bias(%x: tensor<8x16xf32>, %w: tensor<32x16xf32>, %v: tensor<32xf32>) -> tensor<8x32xf32> {
  // CHECK-NEXT: %[[B:.*]] = nn.exp %arg2
  // CHECK-NEXT: nn.broadcast
  // CHECK-NEXT: %[[P:.*]] = nn.product %arg0, %arg1 transposed bias %[[B]] : tensor<32xf32> : tensor<8x16xf32>, tensor<32x16xf32>
  // CHECK-NEXT: return %[[P]]
  %p = nn.matmul %x, %w transposed : tensor<8x16xf32>, tensor<32x16xf32>
  %bias = nn.exp %v : tensor<32xf32>
  %b = nn.broadcast %bias to [8, 32] : tensor<32xf32>
  %h = nn.add %b, %p : tensor<8x32xf32>, tensor<8x32xf32>
  return %h : tensor<8x32xf32>
}

// The activation alone, of a product that adds to something.
// CHECK-LABEL: func.func @activation
func.func @activation(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %c: tensor<8x32xf32>) -> tensor<8x32xf32> {
  // CHECK-NEXT: %[[P:.*]] = nn.product %arg0, %arg1 accumulate %arg2 : tensor<8x32xf32> activation gelu : tensor<8x16xf32>, tensor<16x32xf32>
  // CHECK-NEXT: return %[[P]]
  %p = nn.matmul %x, %w accumulate %c : tensor<8x32xf32> : tensor<8x16xf32>, tensor<16x32xf32>
  %g = nn.gelu %p : tensor<8x32xf32>
  return %g : tensor<8x32xf32>
}

// In a loop, too.
// CHECK-LABEL: func.func @loop
func.func @loop(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x32xf32> {
  // CHECK: nn.product %{{.*}}, %{{.*}} activation gelu :
  %r = nn.chunks 2 (%a = %x : tensor<8x16xf32> split 0, %b = %w : tensor<16x32xf32>) -> (tensor<8x32xf32> split 0) {
    %p = nn.matmul %a, %b : tensor<4x16xf32>, tensor<16x32xf32>
    %g = nn.gelu %p : tensor<4x32xf32>
    nn.yield %g : tensor<4x32xf32>
  }
  return %r : tensor<8x32xf32>
}

// Not supported by the library: a column added to all others, a product that is also read without the bias, a sum over a batch.
// CHECK-LABEL: func.func @others
// CHECK-NOT: nn.product
func.func @others(%x: tensor<8x16xf32>, %w: tensor<16x8xf32>, %c: tensor<8x1xf32>, %bias: tensor<8xf32>,
                  %y: tensor<3x4x16xf32>, %z: tensor<3x16x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %p = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x8xf32>
  %column = nn.broadcast %c to [8, 8] : tensor<8x1xf32>
  %s = nn.add %p, %column : tensor<8x8xf32>, tensor<8x8xf32>
  %q = nn.matmul %x, %w : tensor<8x16xf32>, tensor<16x8xf32>
  %row = nn.broadcast %bias to [8, 8] : tensor<8xf32>
  %t = nn.add %q, %row : tensor<8x8xf32>, tensor<8x8xf32>
  %u = nn.matmul %y, %z reduce_batch : tensor<3x4x16xf32>, tensor<3x16x8xf32>
  %g = nn.gelu %u : tensor<4x8xf32>
  return %s, %t, %q, %g : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}

// On CPUs products of bf16 factors are no library calls.
// CHECK-LABEL: func.func @low
// CHECK-NOT: nn.product
func.func @low(%x: tensor<8x16xbf16>, %w: tensor<16x8xbf16>, %bias: tensor<8xbf16>) -> tensor<8x8xbf16> {
  %p = nn.matmul %x, %w : tensor<8x16xbf16>, tensor<16x8xbf16>
  %row = nn.broadcast %bias to [8, 8] : tensor<8xbf16>
  %t = nn.add %p, %row : tensor<8x8xbf16>, tensor<8x8xbf16>
  return %t : tensor<8x8xbf16>
}
