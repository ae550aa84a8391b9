// RUN: sed 's/PRODUCTS/bf16x3/' %s | trainc-opt --summarise-kernels --generate-kernels | FileCheck %s
// RUN: sed 's/PRODUCTS/fma/' %s | trainc-opt --summarise-kernels --generate-kernels | FileCheck %s --check-prefix=FMA

train.program @p { model @m  optimizer sgd  batch 1  fp32_products PRODUCTS }

train.state parameter @a : tensor<64x96xf32>
train.state parameter @b : tensor<96x32xf32>
train.state parameter @c : tensor<64x32xf32>
train.state parameter @d : tensor<64x31xf32>
train.state parameter @e : tensor<96x31xf32>

// CHECK: module @kernels attributes {plan.split_products, plan.target = "cpu"}
// The unit is configured once a kernel, and released at its end.
// CHECK: func.func @gemm_64x32x96_nn_
// CHECK: call @gemm_configure_unit
// CHECK: func.call @gemm_split_columns_adjacent
// CHECK: func.call @gemm_split_rows_strided
// CHECK: func.call @gemm_split_micro_kernel
// CHECK: call @gemm_release_unit
// CHECK: func.func private @gemm_configure_unit
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: func.func private @gemm_release_unit
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// Too few columns to fill the unit's tiles.
// CHECK: func.func @gemm_64x31x96_nn_
// CHECK-NOT: llvm.x86
// CHECK: call @gemm_micro_kernel

// FMA: module @kernels attributes {plan.target = "cpu"}
// FMA-NOT: llvm.x86
// FMA-NOT: gemm_split
train.entry @init {
  %a = train.get @a : tensor<64x96xf32>
  %b = train.get @b : tensor<96x32xf32>
  %e = train.get @e : tensor<96x31xf32>
  %0 = nn.matmul %a, %b : tensor<64x96xf32>, tensor<96x32xf32>
  train.set @c, %0 : tensor<64x32xf32>
  %1 = nn.matmul %a, %e : tensor<64x96xf32>, tensor<96x31xf32>
  train.set @d, %1 : tensor<64x31xf32>
}
