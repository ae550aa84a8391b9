// RUN: trainc-opt %s | FileCheck %s
// RUN: trainc-opt %s | trainc-opt | FileCheck %s
// RUN: trainc-opt %s --mlir-print-op-generic | trainc-opt | FileCheck %s

// CHECK-LABEL: func.func @matmul
func.func @matmul(%x: tensor<2x5x3xf32>, %w: tensor<4x3xf32>, %y: tensor<2x3x6xf32>, %g: tensor<2x5x4xf32>, %acc: tensor<3x4xf32>)
    -> (tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x4xf32>, tensor<2x3x4xf32>) {
  // CHECK: nn.matmul %{{.*}}, %{{.*}} transposed : tensor<2x5x3xf32>, tensor<4x3xf32>
  %0 = nn.matmul %x, %w transposed : tensor<2x5x3xf32>, tensor<4x3xf32>
  // CHECK: nn.matmul %{{.*}}, %{{.*}} : tensor<2x5x3xf32>, tensor<2x3x6xf32>
  %1 = nn.matmul %x, %y : tensor<2x5x3xf32>, tensor<2x3x6xf32>
  // CHECK: nn.matmul %{{.*}} transposed, %{{.*}} reduce_batch accumulate %{{.*}} : tensor<3x4xf32> : tensor<2x5x3xf32>, tensor<2x5x4xf32>
  %2 = nn.matmul %x transposed, %g reduce_batch accumulate %acc : tensor<3x4xf32> : tensor<2x5x3xf32>, tensor<2x5x4xf32>
  // CHECK: nn.matmul %{{.*}} transposed, %{{.*}} : tensor<2x5x3xf32>, tensor<2x5x4xf32>
  %3 = nn.matmul %x transposed, %g : tensor<2x5x3xf32>, tensor<2x5x4xf32>
  return %0, %1, %2, %3 : tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x4xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @lookup
func.func @lookup(%table: tensor<10x4xf32>, %ids: tensor<2x3xi32>) -> tensor<10x4xf32> {
  // CHECK: nn.gather %{{.*}} at %{{.*}} : tensor<10x4xf32>, tensor<2x3xi32>
  %0 = nn.gather %table at %ids : tensor<10x4xf32>, tensor<2x3xi32>
  // CHECK: nn.scatter_add %{{.*}} into %{{.*}} at %{{.*}} : tensor<2x3x4xf32>, tensor<10x4xf32>, tensor<2x3xi32>
  %1 = nn.scatter_add %0 into %table at %ids : tensor<2x3x4xf32>, tensor<10x4xf32>, tensor<2x3xi32>
  return %1 : tensor<10x4xf32>
}

// Grouped heads: 4 query heads of width 2, 2 key heads, values 3 wide.
// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<1x5x8xf32>, %k: tensor<1x5x4xf32>, %v: tensor<1x5x6xf32>, %segments: tensor<1x5xi32>, %limit: tensor<i32>)
    -> (tensor<1x5x12xf32>, tensor<1x4x5xf32>) {
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} heads 4 kv_heads 2 causal scale 0.5 segments %{{.*}} : tensor<1x5xi32> : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x6xf32>
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal scale 0.5 segments %segments : tensor<1x5xi32> : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x6xf32>
  // CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} heads 4 kv_heads 2 limit %{{.*}} : tensor<i32> : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x6xf32>
  %out1, %lse1 = nn.attention %q, %k, %v heads 4 kv_heads 2 limit %limit : tensor<i32> : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x6xf32>
  // CHECK: nn.attention_grad %{{.*}} heads 4 kv_heads 2 causal scale 0.5 segments %{{.*}} : tensor<1x5xi32> : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x6xf32>, tensor<1x5x12xf32>, tensor<1x4x5xf32>, tensor<1x5x12xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %out heads 4 kv_heads 2 causal scale 0.5 segments %segments : tensor<1x5xi32> : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x6xf32>, tensor<1x5x12xf32>, tensor<1x4x5xf32>, tensor<1x5x12xf32>
  // CHECK: nn.attention_grad %{{.*}} heads 4 kv_heads 2 scale 0.5 dlse %{{.*}} : tensor<1x4x5xf32> : tensor<1x5x8xf32>
  %dq1, %dk1, %dv1 = nn.attention_grad %q, %k, %v, %out, %lse, %out heads 4 kv_heads 2 scale 0.5 dlse %lse : tensor<1x4x5xf32> : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x6xf32>, tensor<1x5x12xf32>, tensor<1x4x5xf32>, tensor<1x5x12xf32>
  return %out, %lse : tensor<1x5x12xf32>, tensor<1x4x5xf32>
}
