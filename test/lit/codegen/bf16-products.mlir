// RUN: sed 's/LEVELS/all/' %s | trainc-opt --summarise-kernels --generate-kernels | FileCheck %s
// RUN: sed 's/LEVELS/x86-64-v3,x86-64-v4-bf16/' %s | trainc-opt --summarise-kernels --generate-kernels | FileCheck %s --check-prefix=NO-UNIT

train.program @p { model @m  optimizer sgd  batch 1  cpu "LEVELS" }

train.state parameter @a : tensor<64x96xbf16>
train.state parameter @b : tensor<96x32xbf16>
train.state parameter @c : tensor<64x32xf32>

// All CPU levels share the frame, which calls the functions that each level implements on its own.
// CHECK: module @kernels attributes {plan.bf16_products, plan.target = "cpu"}
// CHECK: func.func @gemm_64x32x96_nn_
// CHECK: call @gemm_begin_bf16
// CHECK: func.call @gemm_copy_b_bf16
// CHECK: func.call @gemm_transpose_a_bf16
// CHECK: func.call @gemm_micro_kernel_bf16
// CHECK: call @gemm_end_bf16
// CHECK: func.func @"gemm_micro_kernel_bf16.x86-64-v3"
// CHECK-NOT: llvm.x86
// CHECK: func.func @"gemm_micro_kernel_bf16.x86-64-v4"
// CHECK-NOT: llvm.x86
// CHECK: func.func @"gemm_micro_kernel_bf16.x86-64-v4-bf16"
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK: func.func @"gemm_micro_kernel_bf16.x86-64-v4-amx"
// CHECK-NOT: llvm.x86.avx512bf16
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// Only one level has a unit to configure.
// CHECK: func.func @"gemm_begin_bf16.x86-64-v4-bf16"
// CHECK-NEXT: return
// CHECK: func.func @"gemm_begin_bf16.x86-64-v4-amx"
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"

// NO-UNIT: func.func @"gemm_micro_kernel_bf16.x86-64-v3"
// NO-UNIT: func.func @"gemm_micro_kernel_bf16.x86-64-v4-bf16"
// NO-UNIT-NOT: amx
// NO-UNIT-NOT: gemm_begin
train.entry @init {
  %a = train.get @a : tensor<64x96xbf16>
  %b = train.get @b : tensor<96x32xbf16>
  %0 = nn.matmul %a, %b to f32 : tensor<64x96xbf16>, tensor<96x32xbf16>
  train.set @c, %0 : tensor<64x32xf32>
}
