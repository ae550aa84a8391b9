// RUN: trainc-opt %s | FileCheck %s
// RUN: trainc-opt %s | trainc-opt | FileCheck %s
// RUN: trainc-opt %s --mlir-print-op-generic | trainc-opt | FileCheck %s

// CHECK-LABEL: func.func @kernel
func.func @kernel(%x: tensor<128x768xf32>, %b: tensor<768xf32>) -> tensor<128xf32> {
  // CHECK: %[[R:.*]]:2 = nn.kernel 128 x 768 (%[[A:.*]] = %{{.*}} : tensor<128x768xf32>, %[[C:.*]] = %{{.*}} : tensor<768xf32> at <*128, 768>) -> (tensor<128x768xf32>, tensor<128xf32>) {
  %r:2 = nn.kernel 128 x 768 (%a = %x : tensor<128x768xf32> at <128, 768>, %c = %b : tensor<768xf32> at <*128, 768>) -> (tensor<128x768xf32>, tensor<128xf32>) {
    // CHECK: nn.broadcast %[[C]]
    %d = nn.broadcast %c to [128, 768] : tensor<768xf32>
    %e = nn.add %a, %d : tensor<128x768xf32>, tensor<128x768xf32>
    // CHECK: nn.reduce sum %{{.*}} over [1] {nn.pattern = #nn.pattern<128, *768>}
    %f = nn.reduce sum %e over [1] {nn.pattern = #nn.pattern<128, *768>} : tensor<128x768xf32>
    // CHECK: nn.yield %{{.*}}, %{{.*}} : tensor<128x768xf32>, tensor<128xf32>
    nn.yield %e, %f : tensor<128x768xf32>, tensor<128xf32>
  }
  // CHECK: return %[[R]]#1
  return %r#1 : tensor<128xf32>
}

// A table has no pattern, and the one position of a scalar no runs.
// CHECK-LABEL: func.func @tables
func.func @tables(%t: tensor<5x1xf32>, %i: tensor<1xi32>) -> tensor<1x1xf32> {
  // CHECK: nn.kernel 1 x 1 (%{{.*}} = %{{.*}} : tensor<5x1xf32> table, %{{.*}} = %{{.*}} : tensor<1xi32>) -> (tensor<1x1xf32>) {
  %r = nn.kernel 1 x 1 (%a = %t : tensor<5x1xf32> table, %b = %i : tensor<1xi32> at <>) -> (tensor<1x1xf32>) {
    // CHECK: nn.gather %{{.*}} at %{{.*}} : tensor
    %g = nn.gather %a at %b {nn.pattern = #nn.pattern<1, *1>} : tensor<5x1xf32>, tensor<1xi32>
    nn.yield %g : tensor<1x1xf32>
  }
  return %r : tensor<1x1xf32>
}

// CHECK-LABEL: func.func @chunks
func.func @chunks(%x: tensor<8x3xf32>, %w: tensor<3xf32>, %z: tensor<3xf32>) -> (tensor<8x3xf32>, tensor<3xf32>) {
  // CHECK: nn.chunks 4 (%[[A:.*]] = %{{.*}} : tensor<8x3xf32> split 0, %{{.*}} = %{{.*}} : tensor<3xf32>, %{{.*}} = %{{.*}} : tensor<3xf32> carried) -> (tensor<8x3xf32> split 0, tensor<3xf32> carried) {
  %r:2 = nn.chunks 4 (%a = %x : tensor<8x3xf32> split 0, %b = %w : tensor<3xf32>, %s = %z : tensor<3xf32> carried)
      -> (tensor<8x3xf32> split 0, tensor<3xf32> carried) {
    // CHECK: nn.broadcast %{{.*}} to [2, 3] : tensor<3xf32>
    %c = nn.broadcast %b to [2, 3] : tensor<3xf32>
    // CHECK: nn.mul %[[A]], %{{.*}} : tensor<2x3xf32>, tensor<2x3xf32>
    %d = nn.mul %a, %c : tensor<2x3xf32>, tensor<2x3xf32>
    %e = nn.reduce sum %d over [0] : tensor<2x3xf32>
    %f = nn.add %s, %e : tensor<3xf32>, tensor<3xf32>
    nn.yield %d, %f : tensor<2x3xf32>, tensor<3xf32>
  }
  return %r#0, %r#1 : tensor<8x3xf32>, tensor<3xf32>
}
