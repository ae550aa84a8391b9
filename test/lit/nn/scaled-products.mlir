// RUN: trainc-opt %s --split-input-file --canonicalize | FileCheck %s
// RUN: trainc-opt %s --split-input-file | trainc-opt --split-input-file | FileCheck %s --check-prefix=SYNTAX

// Products of fp8 numbers with scales, and conversions.

// SYNTAX-LABEL: func.func @products
func.func @products(%a: tensor<2x8x32xf8E4M3FN>, %b: tensor<16x32xf8E4M3FN>, %g: tensor<2x8x32xf8E5M2>, %s: tensor<f32>, %sum: tensor<2x8x16xf32>)
    -> (tensor<2x8x16xbf16>, tensor<2x8x16xf32>) {
  // SYNTAX: nn.matmul %{{.*}}, %{{.*}} transposed to bf16 scaled %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32> : tensor<2x8x32xf8E4M3FN>, tensor<16x32xf8E4M3FN>
  %0 = nn.matmul %a, %b transposed to bf16 scaled %s, %s : tensor<f32>, tensor<f32> : tensor<2x8x32xf8E4M3FN>, tensor<16x32xf8E4M3FN>
  // SYNTAX: nn.matmul %{{.*}}, %{{.*}} transposed to f32 scaled %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32> accumulate %{{.*}} : tensor<2x8x16xf32> : tensor<2x8x32xf8E5M2>, tensor<16x32xf8E4M3FN>
  %1 = nn.matmul %g, %b transposed to f32 scaled %s, %s : tensor<f32>, tensor<f32> accumulate %sum : tensor<2x8x16xf32> : tensor<2x8x32xf8E5M2>, tensor<16x32xf8E4M3FN>
  return %0, %1 : tensor<2x8x16xbf16>, tensor<2x8x16xf32>
}

// -----

// The layout stays: no library transposes such factors on the way.
// CHECK-LABEL: func.func @layout
func.func @layout(%a: tensor<32x16xf8E4M3FN>, %b: tensor<32x16xf8E4M3FN>, %s: tensor<f32>) -> tensor<16x16xbf16> {
  // CHECK: %[[A:.*]] = nn.transpose %arg0
  // CHECK: %[[B:.*]] = nn.transpose %arg1
  // CHECK: nn.matmul %[[A]], %[[B]] transposed to bf16
  %0 = nn.transpose %a by [1, 0] : tensor<32x16xf8E4M3FN>
  %1 = nn.transpose %b by [1, 0] : tensor<32x16xf8E4M3FN>
  %2 = nn.matmul %0, %1 transposed to bf16 scaled %s, %s : tensor<f32>, tensor<f32> : tensor<16x32xf8E4M3FN>, tensor<16x32xf8E4M3FN>
  return %2 : tensor<16x16xbf16>
}

// -----

// Numbers that are too large become the largest; of two equally near the even one is taken.
// CHECK-LABEL: func.func @numbers
func.func @numbers() -> (tensor<2xf8E4M3FN>, tensor<2xf8E5M2>, tensor<2xf8E4M3FN>, tensor<2xf32>) {
  %large = nn.constant 1e6 : tensor<2xf32>
  %low = nn.constant -inf : tensor<2xf32>
  %tie = nn.constant 17.0 : tensor<2xf32>
  // CHECK-DAG: %[[A:.*]] = nn.constant 448 : tensor<2xf8E4M3FN>
  // CHECK-DAG: %[[B:.*]] = nn.constant -57344 : tensor<2xf8E5M2>
  // CHECK-DAG: %[[C:.*]] = nn.constant 16 : tensor<2xf8E4M3FN>
  // CHECK-DAG: %[[D:.*]] = nn.constant 16 : tensor<2xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
  %0 = nn.convert %large to f8E4M3FN : tensor<2xf32>
  %1 = nn.convert %low to f8E5M2 : tensor<2xf32>
  %2 = nn.convert %tie to f8E4M3FN : tensor<2xf32>
  %3 = nn.convert %2 to f32 : tensor<2xf8E4M3FN>
  return %0, %1, %2, %3 : tensor<2xf8E4M3FN>, tensor<2xf8E5M2>, tensor<2xf8E4M3FN>, tensor<2xf32>
}
