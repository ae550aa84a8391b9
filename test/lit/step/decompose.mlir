// RUN: trainc-opt %s --decompose --mlir-print-debuginfo | FileCheck %s

// No composite op is left, and the primitives have the source line of their op.
// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK-NOT: nn.softmax
  // CHECK: nn.reduce max %{{.*}} loc([[SITE:#loc[0-9]*]])
  // CHECK: nn.exp %{{.*}} loc([[SITE]])
  // CHECK: return
  %y = nn.softmax %x : tensor<8x16xf32> loc("attention")
  return %y : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @split
func.func @split(%x: tensor<8x6xf32>) -> tensor<8x2xf32> {
  // CHECK: nn.slice
  // CHECK-NOT: nn.split
  %a, %b, %c = nn.split %x into 3 : tensor<8x6xf32>
  return %b : tensor<8x2xf32>
}

// Ops in regions are reached.
// CHECK-LABEL: func.func @inChunks
func.func @inChunks(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: nn.chunks
  // CHECK-NOT: nn.softmax
  // CHECK: nn.yield
  %y = nn.chunks 4 (%a = %x : tensor<8x16xf32> split 0) -> (tensor<8x16xf32> split 0) {
    %s = nn.softmax %a : tensor<2x16xf32>
    nn.yield %s : tensor<2x16xf32>
  }
  return %y : tensor<8x16xf32>
}
// CHECK: [[SITE]] = loc("attention")
