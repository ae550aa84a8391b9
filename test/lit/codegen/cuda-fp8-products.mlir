// RUN: trainc-opt %s --summarise-kernels | FileCheck %s
// RUN: trainc-opt %s --summarise-kernels --plan-memory --order-streams | FileCheck %s --check-prefix=PLAN

// cuBLASLt multiplies fp8 numbers, and reads their scales from device memory.
train.program @p { model @m  optimizer sgd  batch 1  target cuda }

train.state output @y : tensor<8x32xbf16>
train.state gradient @w : tensor<32x64xf32>

train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x64xf8E4M3FN>
  %v = train.input "v" micro : tensor<32x64xf8E4M3FN>
  %sx = train.input "sx" micro : tensor<f32>
  %sv = train.input "sv" micro : tensor<f32>
  // CHECK: nn.matmul {{.*}} scaled
  // CHECK-SAME: #plan.library_call_spec<"plan.matrix_product"
  // CHECK-SAME: a = 0 : i64, a_scale = 2 : i64, b = 1 : i64, b_scale = 3 : i64, result = 4 : i64
  // CHECK-SAME: factors = f8E4M3FN
  // CHECK-NOT: factors_b
  // CHECK-SAME: product = bf16
  // PLAN: plan.matrix_product 8 x 32 x 64 a <@"input.x{{[^ ]*}} + 0> row 64 b <@"input.v{{[^ ]*}} + 0> transposed row 64 to <@{{[^ ]*}} + 0> row 32 scaled <@"input.sx{{[^ ]*}} + 0>, <@"input.sv{{[^ ]*}} + 0> factors f8E4M3FN product bf16 workspace
  %y = nn.matmul %x, %v transposed to bf16 scaled %sx, %sv : tensor<f32>, tensor<f32> : tensor<8x64xf8E4M3FN>, tensor<32x64xf8E4M3FN>
  train.set @y, %y : tensor<8x32xbf16>

  // A gradient is of the type with more exponents, and is added to where it lies.
  // CHECK: nn.matmul {{.*}} scaled
  // CHECK-SAME: a_scale = 3 : i64, b = 1 : i64, b_scale = 4 : i64, result = 5 : i64
  // CHECK-SAME: factors = f8E5M2, factors_b = f8E4M3FN
  // PLAN: plan.matrix_product 32 x 64 x 16 {{.*}} to <@w + 0> adds row 64 scaled {{.*}} factors f8E5M2 and f8E4M3FN workspace
  %g = train.input "g" micro : tensor<32x16xf8E5M2>
  %t = train.input "t" micro : tensor<64x16xf8E4M3FN>
  %before = train.get @w : tensor<32x64xf32>
  %w = nn.matmul %g, %t transposed to f32 scaled %sx, %sv : tensor<f32>, tensor<f32> accumulate %before : tensor<32x64xf32> : tensor<32x16xf8E5M2>, tensor<64x16xf8E4M3FN>
  train.set @w, %w : tensor<32x64xf32>
}
