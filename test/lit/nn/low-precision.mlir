// RUN: trainc-opt %s --split-input-file --canonicalize | FileCheck %s
// RUN: trainc-opt %s --split-input-file | trainc-opt --split-input-file | FileCheck %s --check-prefix=SYNTAX

// Products, sums and attention of short numbers: what they give in short numbers, and in f32.

// SYNTAX-LABEL: func.func @products
func.func @products(%a: tensor<4x8xbf16>, %b: tensor<8x6xbf16>) -> (tensor<4x6xbf16>, tensor<4x6xf32>) {
  // SYNTAX: nn.matmul %{{.*}}, %{{.*}} : tensor<4x8xbf16>, tensor<8x6xbf16>
  %short = nn.matmul %a, %b : tensor<4x8xbf16>, tensor<8x6xbf16>
  // SYNTAX: nn.matmul %{{.*}}, %{{.*}} to f32 : tensor<4x8xbf16>, tensor<8x6xbf16>
  %sums = nn.matmul %a, %b to f32 : tensor<4x8xbf16>, tensor<8x6xbf16>
  return %short, %sums : tensor<4x6xbf16>, tensor<4x6xf32>
}

// -----

// SYNTAX-LABEL: func.func @attention
func.func @attention(%q: tensor<1x4x8xf16>, %g: tensor<1x4x8xf16>) -> (tensor<1x4x8xf16>, tensor<1x2x4xf32>, tensor<1x4x8xf16>) {
  // SYNTAX: return {{.*}} : tensor<1x4x8xf16>, tensor<1x2x4xf32>, tensor<1x4x8xf16>
  %o, %lse = nn.attention %q, %q, %q heads 2 causal : tensor<1x4x8xf16>, tensor<1x4x8xf16>, tensor<1x4x8xf16>
  %dq, %dk, %dv = nn.attention_grad %q, %q, %q, %o, %lse, %g heads 2 kv_heads 2 causal scale 0.5 : tensor<1x4x8xf16>, tensor<1x4x8xf16>, tensor<1x4x8xf16>, tensor<1x4x8xf16>, tensor<1x2x4xf32>, tensor<1x4x8xf16>
  return %o, %lse, %dq : tensor<1x4x8xf16>, tensor<1x2x4xf32>, tensor<1x4x8xf16>
}

// -----

// A row that is read often is added up in f32.
// SYNTAX-LABEL: func.func @rows
func.func @rows(%table: tensor<5x8xf32>, %ids: tensor<3xi32>, %updates: tensor<3x8xbf16>) -> tensor<5x8xf32> {
  // SYNTAX: nn.scatter_add {{.*}} : tensor<3x8xbf16>, tensor<5x8xf32>, tensor<3xi32>
  %0 = nn.scatter_add %updates into %table at %ids : tensor<3x8xbf16>, tensor<5x8xf32>, tensor<3xi32>
  return %0 : tensor<5x8xf32>
}

// -----

// The mean is rounded once, after the division.
// CHECK-LABEL: func.func @mean
func.func @mean(%x: tensor<4x8xbf16>) -> tensor<4xbf16> {
  // CHECK: %[[SUM:.*]] = nn.reduce sum %{{.*}} over [1] to f32 : tensor<4x8xbf16>
  // CHECK: %[[MEAN:.*]] = nn.mul %[[SUM]], %{{.*}} : tensor<4xf32>, tensor<4xf32>
  // CHECK: nn.convert %[[MEAN]] to bf16 : tensor<4xf32>
  %0 = nn.reduce mean %x over [1] : tensor<4x8xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// There and back through a type that holds all of its numbers.
// CHECK-LABEL: func.func @there_and_back
func.func @there_and_back(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %0 = nn.convert %x to f32 : tensor<4xbf16>
  %1 = nn.convert %0 to bf16 : tensor<4xf32>
  // CHECK: %[[SHORT:.*]] = nn.convert %arg1 to bf16
  // CHECK: %[[ROUNDED:.*]] = nn.convert %[[SHORT]] to f32
  %2 = nn.convert %y to bf16 : tensor<4xf32>
  %3 = nn.convert %2 to f32 : tensor<4xbf16>
  // CHECK: return %arg0, %[[ROUNDED]]
  return %1, %3 : tensor<4xbf16>, tensor<4xf32>
}

// -----

// To another type straight, whether or not others read the wider numbers.
// CHECK-LABEL: func.func @by_way_of_wider
func.func @by_way_of_wider(%x: tensor<4xbf16>, %y: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf64>) {
  // CHECK: %[[WIDE:.*]] = nn.convert %arg0 to f32
  %0 = nn.convert %x to f32 : tensor<4xbf16>
  // CHECK: %[[A:.*]] = nn.convert %arg0 to f16 : tensor<4xbf16>
  %1 = nn.convert %0 to f16 : tensor<4xf32>
  %2 = nn.convert %y to f64 : tensor<4xf16>
  // CHECK: %[[B:.*]] = nn.convert %arg1 to bf16 : tensor<4xf16>
  %3 = nn.convert %2 to bf16 : tensor<4xf64>
  %4 = nn.convert %y to f32 : tensor<4xf16>
  // CHECK: %[[C:.*]] = nn.convert %arg1 to f64 : tensor<4xf16>
  %5 = nn.convert %4 to f64 : tensor<4xf32>
  // CHECK: return %[[A]], %[[WIDE]], %[[B]], %[[C]]
  return %1, %0, %3, %5 : tensor<4xf16>, tensor<4xf32>, tensor<4xbf16>, tensor<4xf64>
}

// -----

// Converting f32 to an integer, converting a rounded number, and rounding twice give different numbers.
// CHECK-LABEL: func.func @not_by_way
func.func @not_by_way(%x: tensor<4xf16>, %y: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xbf16>, tensor<4xf16>) {
  // CHECK: %[[WIDE:.*]] = nn.convert %arg0 to f32
  %0 = nn.convert %x to f32 : tensor<4xf16>
  // CHECK: nn.convert %[[WIDE]] to i32 : tensor<4xf32>
  %1 = nn.convert %0 to i32 : tensor<4xf32>
  // CHECK: %[[SHORT:.*]] = nn.convert %arg1 to f16
  %2 = nn.convert %y to f16 : tensor<4xf32>
  // CHECK: nn.convert %[[SHORT]] to bf16 : tensor<4xf16>
  %3 = nn.convert %2 to bf16 : tensor<4xf16>
  // CHECK: %[[FLOAT:.*]] = nn.convert %arg2 to f32
  %4 = nn.convert %i to f32 : tensor<4xi32>
  // CHECK: nn.convert %[[FLOAT]] to f16 : tensor<4xf32>
  %5 = nn.convert %4 to f16 : tensor<4xf32>
  return %1, %3, %5 : tensor<4xi32>, tensor<4xbf16>, tensor<4xf16>
}
