// RUN: trainc-opt %s --fuse-epilogues | FileCheck %s
// RUN: trainc-opt %s --fuse-epilogues | trainc-opt | FileCheck %s

train.program @p { model @m  optimizer sgd  batch 1  library_calls products }

// The backward of a linear layer after GELU: its gradient, and the gradient of the bias, which is the sum of the result's columns.
// CHECK-LABEL: func.func @gelu
func.func @gelu(%dy: tensor<2x4x8xf32>, %w: tensor<16x8xf32>, %h: tensor<2x4x16xf32>, %x: tensor<2x4x32xf32>)
    -> (tensor<2x4x16xf32>, tensor<16xf32>, tensor<32x16xf32>) {
  // CHECK-NEXT: %[[P:.*]]:2 = nn.product %arg0, %arg1 transposed activation gelu_tanh_gradient at %arg2 : tensor<2x4x16xf32> sum result : tensor<2x4x8xf32>, tensor<16x8xf32>
  // CHECK-NEXT: %[[W:.*]] = nn.matmul %arg3 transposed, %[[P]]#0 reduce_batch
  // CHECK-NEXT: return %[[P]]#0, %[[P]]#1, %[[W]]
  %p = nn.matmul %dy, %w transposed : tensor<2x4x8xf32>, tensor<16x8xf32>
  %dh = nn.gelu_grad %p at %h approximate tanh : tensor<2x4x16xf32>, tensor<2x4x16xf32>
  %db = nn.reduce sum %dh over [0, 1] : tensor<2x4x16xf32>
  %dw = nn.matmul %x transposed, %dh reduce_batch : tensor<2x4x32xf32>, tensor<2x4x16xf32>
  return %dh, %db, %dw : tensor<2x4x16xf32>, tensor<16xf32>, tensor<32x16xf32>
}

// The exact form, without a bias; the auxiliary tensor is known late, so the product comes late.
// CHECK-LABEL: func.func @exact
func.func @exact(%dy: tensor<4x8xf32>, %w: tensor<16x8xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // CHECK-NEXT: %[[H:.*]] = nn.exp %arg2
  // CHECK-NEXT: %[[P:.*]] = nn.product %arg0, %arg1 transposed activation gelu_gradient at %[[H]] : tensor<4x16xf32> : tensor<4x8xf32>, tensor<16x8xf32>
  // CHECK-NEXT: return %[[P]]
  %p = nn.matmul %dy, %w transposed : tensor<4x8xf32>, tensor<16x8xf32>
  %h = nn.exp %y : tensor<4x16xf32>
  %dh = nn.gelu_grad %p at %h : tensor<4x16xf32>, tensor<4x16xf32>
  return %dh : tensor<4x16xf32>
}

// The sum of a factor's rows, which are the terms of the gradient of a weight [in, out]. It comes first, and so does the product then. What
// is added to the sum stays a kernel's.
// CHECK-LABEL: func.func @factor_b
func.func @factor_b(%x: tensor<2x4x32xf32>, %q: tensor<2x4x8xf32>, %g: tensor<32x16xf32>, %gb: tensor<16xf32>)
    -> (tensor<32x16xf32>, tensor<16xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = nn.concat
  // CHECK-NEXT: %[[P:.*]]:2 = nn.product %arg0 transposed, %[[Y]] reduce_batch accumulate %arg2 : tensor<32x16xf32> sum b :
  // CHECK-NEXT: %[[B:.*]] = nn.add %arg3, %[[P]]#1
  // CHECK-NEXT: return %[[P]]#0, %[[B]]
  %dy = nn.concat dim 2 %q, %q : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %db = nn.reduce sum %dy over [0, 1] : tensor<2x4x16xf32>
  %sum = nn.add %gb, %db : tensor<16xf32>, tensor<16xf32>
  %dw = nn.matmul %x transposed, %dy reduce_batch accumulate %g : tensor<32x16xf32> : tensor<2x4x32xf32>, tensor<2x4x16xf32>
  return %dw, %sum : tensor<32x16xf32>, tensor<16xf32>
}

// Gradient of a weight [out, in], with the sum after the product.
// CHECK-LABEL: func.func @factor_a
func.func @factor_a(%dy: tensor<4x16xf32>, %x: tensor<4x32xf32>) -> (tensor<16x32xf32>, tensor<16xf32>) {
  // CHECK-NEXT: %[[P:.*]]:2 = nn.product %arg0 transposed, %arg1 sum a : tensor<4x16xf32>, tensor<4x32xf32>
  // CHECK-NEXT: return %[[P]]#0, %[[P]]#1
  %dw = nn.matmul %dy transposed, %x : tensor<4x16xf32>, tensor<4x32xf32>
  %db = nn.reduce sum %dy over [0] : tensor<4x16xf32>
  return %dw, %db : tensor<16x32xf32>, tensor<16xf32>
}

// A kernel that makes or reads the tensor anyway adds it up as well: side sums save nothing.
// CHECK-LABEL: func.func @kernels
// CHECK-NOT: nn.product
func.func @kernels(%x: tensor<4x32xf32>, %y: tensor<4x16xf32>, %z: tensor<4x16xf32>)
    -> (tensor<32x16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<4x16xf32>) {
  %made = nn.exp %y : tensor<4x16xf32>
  %a = nn.reduce sum %made over [0] : tensor<4x16xf32>
  %b = nn.matmul %x transposed, %made : tensor<4x32xf32>, tensor<4x16xf32>
  %c = nn.reduce sum %z over [0] : tensor<4x16xf32>
  %d = nn.matmul %x transposed, %z : tensor<4x32xf32>, tensor<4x16xf32>
  %read = nn.square %z : tensor<4x16xf32>
  return %b, %a, %d, %c, %read : tensor<32x16xf32>, tensor<16xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<4x16xf32>
}

// No library call computes: a product that has another reader, a gradient that reads the product as its point, sums over other rows than
// the terms, sums of other kinds, and sums of one row less.
// CHECK-LABEL: func.func @others
// CHECK-NOT: nn.product
func.func @others(%dy: tensor<4x8xf32>, %w: tensor<16x8xf32>, %h: tensor<4x16xf32>, %v: tensor<8x16xf32>)
    -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<8xf32>, tensor<4xf32>, tensor<16xf32>) {
  %p = nn.matmul %dy, %w transposed : tensor<4x8xf32>, tensor<16x8xf32>
  %dh = nn.gelu_grad %p at %h approximate tanh : tensor<4x16xf32>, tensor<4x16xf32>
  %q = nn.matmul %dy, %v : tensor<4x8xf32>, tensor<8x16xf32>
  %at = nn.gelu_grad %h at %q approximate tanh : tensor<4x16xf32>, tensor<4x16xf32>
  %rows = nn.reduce sum %dy over [0] : tensor<4x8xf32>
  %columns = nn.reduce sum %dh over [1] : tensor<4x16xf32>
  %most = nn.reduce max %v over [0] : tensor<8x16xf32>
  return %p, %dh, %at, %rows, %columns, %most : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<8xf32>, tensor<4xf32>, tensor<16xf32>
}

// Somebody needs the sum before what the product needs is there.
// CHECK-LABEL: func.func @early
// CHECK-NOT: nn.product
func.func @early(%dy: tensor<4x16xf32>, %x: tensor<4x32xf32>) -> (tensor<32x16xf32>, tensor<16xf32>) {
  %db = nn.reduce sum %dy over [0] : tensor<4x16xf32>
  %e = nn.exp %db : tensor<16xf32>
  %late = nn.exp %x : tensor<4x32xf32>
  %dw = nn.matmul %late transposed, %dy : tensor<4x32xf32>, tensor<4x16xf32>
  return %dw, %e : tensor<32x16xf32>, tensor<16xf32>
}
