// RUN: trainc-opt %s --fuse-epilogues=print-choices 2>&1 | FileCheck %s --check-prefixes=CHECK,H100
// RUN: sed 's/h100-sxm/a100/' %s | trainc-opt --fuse-epilogues=print-choices 2>&1 | FileCheck %s --check-prefixes=CHECK,A100

// An epilogue of a product costs time, and so does a pass of a separate kernel. The machine decides which of the two takes longer.
train.program @p { model @m  optimizer sgd  batch 1  target cuda gpu "h100-sxm" }

// Both read the gradient. An H100 multiplies so fast that a tenth of its product takes less than the pass; an A100 does not.
// H100: fuse-epilogues-machines.mlir:[[# @LINE + 10]]:{{.*}}remark: {{.*}}takes its sum of columns: 11.0 us in the product, 15.1 us in kernels
// A100: [[# @LINE + 9]]:{{.*}}remark: {{.*}}leaves to kernels its sum of columns: 30.6 us in the product, 22.3 us in kernels

// CHECK-LABEL: func.func @sum
// H100: nn.product %arg0 transposed, %arg1 sum b
// A100-NOT: nn.product
// A100: nn.reduce sum
// CHECK: return
func.func @sum(%x: tensor<16384x2048xbf16>, %dy: tensor<16384x1024xbf16>) -> (tensor<2048x1024xbf16>, tensor<1024xbf16>) {
  %db = nn.reduce sum %dy over [0] : tensor<16384x1024xbf16>
  %dw = nn.matmul %x transposed, %dy : tensor<16384x2048xbf16>, tensor<16384x1024xbf16>
  return %dw, %db : tensor<2048x1024xbf16>, tensor<1024xbf16>
}
