// RUN: sed s/WORD/all/ %s | trainc-opt --summarise-kernels | FileCheck %s
// RUN: sed s/WORD/products/ %s | trainc-opt --summarise-kernels | FileCheck %s --check-prefix=PRODUCTS
// RUN: sed s/WORD/all/ %s | trainc-opt --summarise-kernels --plan-memory --order-streams | FileCheck %s --check-prefix=PLAN

train.program @p { model @m  optimizer sgd  batch 1  library_calls WORD }

train.state output @out : tensor<2x3x8xf32>
train.state gradient @w : tensor<8x16xf32>

train.entry @micro_step {
  // A workspace where rows of b are put in order.
  // CHECK: nn.product
  // CHECK-SAME: plan.library_call = #plan.library_call_spec<"plan.matrix_product"
  // CHECK-SAME: a = 0 : i64, auxiliary = 4 : i64, b = 1 : i64, bias = 2 : i64, result = 3 : i64, workspace = 5 : i64
  // CHECK-SAME: activation = 1 : i32
  // CHECK-SAME: workspace_bytes = 512
  // CHECK-SAME: plan.scratch = [tensor<128xf32>]
  // PRODUCTS: nn.product{{.*}}plan.library_call
  // PLAN: plan.matrix_product 6 x 16 x 8 a <@"input.x{{[^ ]*}} + 0> row 8 b <@"input.w{{[^ ]*}} + 0> transposed row 8 to <@[[H:.*]] + 0> row 16 bias <@"input.b{{[^ ]*}} + 0> activation gelu auxiliary <@[[A:.*]] + 0> workspace <@{{.*}} + 0> bytes 512 "nn.product"
  %x = train.input "x" micro : tensor<2x3x8xf32>
  %w = train.input "w" micro : tensor<16x8xf32>
  %b = train.input "b" micro : tensor<16xf32>
  %h, %before = nn.product %x, %w transposed bias %b : tensor<16xf32> activation gelu before : tensor<2x3x8xf32>, tensor<16x8xf32>

  // Gradients are added to where they lie.
  // CHECK: nn.matmul{{.*}}plan.library_call = {{.*}}adds{{.*}}transpose_a
  // PLAN: plan.matrix_product 8 x 16 x 6 a <@"input.x{{[^ ]*}} + 0> transposed row 8 b <@[[A]] + 0> row 16 to <@w + 0> adds row 16 "nn.matmul"
  %g = train.get @w : tensor<8x16xf32>
  %s = nn.matmul %x transposed, %before reduce_batch accumulate %g : tensor<8x16xf32> : tensor<2x3x8xf32>, tensor<2x3x16xf32>
  train.set @w, %s : tensor<8x16xf32>

  // The gradient of an activation reads what the activation was applied to, and sums go beside the result.
  // CHECK: nn.product{{.*}}a = 0 : i64, auxiliary = 2 : i64, b = 1 : i64, result = 3 : i64, side = 4 : i64{{.*}}activation = 3 : i32{{.*}}side_sum = 1 : i32
  // PLAN: plan.matrix_product 6 x 16 x 8 a {{.*}} activation gelu_gradient auxiliary <@[[A]] + 0> sum result side <@{{.*}} + 0>
  %dh, %db = nn.product %x, %w transposed activation gelu_gradient at %before : tensor<2x3x16xf32> sum result : tensor<2x3x8xf32>, tensor<16x8xf32>

  // CHECK: nn.product{{.*}}a = 0 : i64, b = 1 : i64, result = 2 : i64, side = 3 : i64{{.*}}side_sum = 3 : i32
  // PLAN: plan.matrix_product 8 x 16 x 6 a {{.*}} transposed {{.*}} sum b side <@{{.*}} + 0>
  %dw, %dc = nn.product %x transposed, %dh reduce_batch sum b : tensor<2x3x8xf32>, tensor<2x3x16xf32>

  // A sum over a batch is no library call.
  // CHECK: nn.matmul{{.*}}plan.launches
  %k = nn.matmul %x, %x transposed reduce_batch : tensor<2x3x8xf32>, tensor<2x3x8xf32>

  // Nor is a product of shorter numbers, though it is in f32.
  // CHECK: nn.matmul{{.*}}plan.launches
  %z = train.input "z" micro : tensor<2x3x8xbf16>
  %y = train.input "y" micro : tensor<8x4xbf16>
  %zy = nn.matmul %z, %y to f32 : tensor<2x3x8xbf16>, tensor<8x4xbf16>

  // CHECK: nn.attention {{.*}}plan.library_call = #plan.library_call_spec<"plan.attention"
  // CHECK-SAME: key = 1 : i64, log_sum_exp = 4 : i64, out = 3 : i64, query = 0 : i64, value = 2 : i64
  // PRODUCTS: nn.attention {{.*}}plan.launches
  // PLAN: plan.attention forward batch 2 queries 3 keys 3 heads 2 by 2 sizes 4 by 4 causal scale 5.000000e-01
  %o, %lse = nn.attention %x, %x, %x heads 2 causal : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>

  // CHECK: nn.attention_grad
  // CHECK-SAME: plan.scratch = [tensor<12xf32>]
  // PLAN: plan.attention backward {{.*}} workspace {{.*}} bytes 48 "nn.attention_grad"
  %dq, %dk, %dv = nn.attention_grad %x, %x, %x, %o, %lse, %o heads 2 kv_heads 2 causal scale 0.5 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x2x3xf32>, tensor<2x3x8xf32>
  train.set @out, %dq : tensor<2x3x8xf32>
}

// An op that equals the one above, except for what its operands are: numbers stay.
// CHECK-LABEL: train.entry @eval
train.entry @eval {
  // CHECK: nn.attention {{.*}}key = 1 : i64, log_sum_exp = 4 : i64, out = 3 : i64, query = 0 : i64, value = 2 : i64
  // PLAN-LABEL: plan.entry @eval
  // PLAN: plan.attention forward {{.*}} query <@"input.x{{[^ ]*}} + 0> key <@"input.k{{[^ ]*}} + 0> value <@"input.v{{[^ ]*}} + 0>
  %q = train.input "x" micro : tensor<2x3x8xf32>
  %k = train.input "k" micro : tensor<2x3x8xf32>
  %v = train.input "v" micro : tensor<2x3x8xf32>
  %o, %lse = nn.attention %q, %k, %v heads 2 causal : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  train.set @out, %o : tensor<2x3x8xf32>
}

// No code is made for library calls.
// CHECK: module @kernels
// CHECK-NOT: nn.product
// CHECK-NOT: nn.attention
