// RUN: trainc-opt %s --fuse-epilogues | FileCheck %s

// cuBLASLt supports products of bf16, with activations computed in f32 between two conversions.
train.program @p { model @m  optimizer sgd  batch 1  target cuda }

// Forward: the bias is of bf16, and GELU's gradient reads what the forward has rounded.
// CHECK-LABEL: func.func @forward
func.func @forward(%x: tensor<4x16xbf16>, %w: tensor<16x32xbf16>, %bias: tensor<32xbf16>) -> (tensor<4x32xbf16>, tensor<4x32xf32>) {
  // CHECK-NEXT: nn.broadcast
  // CHECK-NEXT: %[[P:.*]]:2 = nn.product %arg0, %arg1 bias %arg2 : tensor<32xbf16> activation gelu_tanh before : tensor<4x16xbf16>, tensor<16x32xbf16>
  // CHECK-NEXT: %[[WIDE:.*]] = nn.convert %[[P]]#1 to f32
  // CHECK-NEXT: return %[[P]]#0, %[[WIDE]]
  %p = nn.matmul %x, %w : tensor<4x16xbf16>, tensor<16x32xbf16>
  %b = nn.broadcast %bias to [4, 32] : tensor<32xbf16>
  %h = nn.add %p, %b : tensor<4x32xbf16>, tensor<4x32xbf16>
  %wide = nn.convert %h to f32 : tensor<4x32xbf16>
  %g = nn.gelu %wide approximate tanh : tensor<4x32xf32>
  %y = nn.convert %g to bf16 : tensor<4x32xf32>
  return %y, %wide : tensor<4x32xbf16>, tensor<4x32xf32>
}

// Backward: the sum is in f32, as the gradient of the weight is, and not of the product before, whose results are of bf16.
// CHECK-LABEL: func.func @backward
func.func @backward(%dy: tensor<4x8xbf16>, %w: tensor<16x8xbf16>, %h: tensor<4x16xbf16>, %x: tensor<4x32xbf16>) -> (tensor<32x16xf32>, tensor<16xf32>) {
  // CHECK: %[[P:.*]] = nn.product %arg0, %arg1 transposed activation gelu_tanh_gradient at %arg2 : tensor<4x16xbf16> : tensor<4x8xbf16>, tensor<16x8xbf16>
  // CHECK-NEXT: %[[W:.*]]:2 = nn.product %arg3 transposed, %[[P]] to f32 sum b : tensor<4x32xbf16>, tensor<4x16xbf16>
  // CHECK-NEXT: return %[[W]]#0, %[[W]]#1
  %at = nn.convert %h to f32 : tensor<4x16xbf16>
  %p = nn.matmul %dy, %w transposed : tensor<4x8xbf16>, tensor<16x8xbf16>
  %wide = nn.convert %p to f32 : tensor<4x16xbf16>
  %dh = nn.gelu_grad %wide at %at approximate tanh : tensor<4x16xf32>, tensor<4x16xf32>
  %low = nn.convert %dh to bf16 : tensor<4x16xf32>
  %db = nn.reduce sum %low over [0] to f32 : tensor<4x16xbf16>
  %dw = nn.matmul %x transposed, %low to f32 : tensor<4x32xbf16>, tensor<4x16xbf16>
  return %dw, %db : tensor<32x16xf32>, tensor<16xf32>
}

// cuBLASLt does not support the exact form, numbers that stay f32, and auxiliary tensors whose rows are not multiples of 8 elements.
// CHECK-LABEL: func.func @others
// CHECK-NOT: activation
func.func @others(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>, %h: tensor<4x8xf32>, %v: tensor<16x12xf32>, %i: tensor<4x12xf32>,
                  %l: tensor<4x16xbf16>, %u: tensor<16x8xbf16>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = nn.matmul %x, %w : tensor<4x16xf32>, tensor<16x8xf32>
  %ga = nn.gelu %a : tensor<4x8xf32>
  %b = nn.matmul %x, %w : tensor<4x16xf32>, tensor<16x8xf32>
  %gb = nn.gelu_grad %b at %h : tensor<4x8xf32>, tensor<4x8xf32>
  %c = nn.matmul %x, %v : tensor<4x16xf32>, tensor<16x12xf32>
  %gc = nn.gelu %c approximate tanh : tensor<4x12xf32>
  %d = nn.matmul %x, %v : tensor<4x16xf32>, tensor<16x12xf32>
  %gd = nn.gelu_grad %d at %i approximate tanh : tensor<4x12xf32>, tensor<4x12xf32>
  %e = nn.matmul %l, %u : tensor<4x16xbf16>, tensor<16x8xbf16>
  %wide = nn.convert %e to f32 : tensor<4x8xbf16>
  %ge = nn.gelu %wide approximate tanh : tensor<4x8xf32>
  %f = nn.matmul %l, %u to f32 : tensor<4x16xbf16>, tensor<16x8xbf16>
  %gf = nn.gelu %f approximate tanh : tensor<4x8xf32>
  return %ga, %gb, %c, %gc, %gd, %ge, %gf : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// Without a tensor beside it, rows may be of any length.
// CHECK-LABEL: func.func @alone
func.func @alone(%x: tensor<4x16xf32>, %v: tensor<16x12xf32>) -> tensor<4x12xf32> {
  // CHECK-NEXT: nn.product %arg0, %arg1 activation gelu_tanh :
  %p = nn.matmul %x, %v : tensor<4x16xf32>, tensor<16x12xf32>
  %g = nn.gelu %p approximate tanh : tensor<4x12xf32>
  return %g : tensor<4x12xf32>
}

// Numbers that the program rounds on the way stay rounded.
// CHECK-LABEL: func.func @rounded
// CHECK-NOT: nn.product
func.func @rounded(%x: tensor<4x16xf32>, %w: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %p = nn.matmul %x, %w : tensor<4x16xf32>, tensor<16x8xf32>
  %low = nn.convert %p to bf16 : tensor<4x8xf32>
  %g = nn.gelu %low approximate tanh : tensor<4x8xbf16>
  %y = nn.convert %g to f32 : tensor<4x8xbf16>
  return %y : tensor<4x8xf32>
}
