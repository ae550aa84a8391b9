// RUN: trainc-opt %s --autodiff | FileCheck %s

// Lookups give sparse gradients as scattered rows; attention has a backward op of its own.

train.state parameter @wte : tensor<10x8xf32>
train.state parameter @k : tensor<8x4xf32>

// CHECK-LABEL: train.entry @micro_step
train.entry @micro_step {
  // CHECK: %[[IDS:.*]] = train.input "tokens"
  %ids = train.input "tokens" micro limit 10 : tensor<1x5xi32>
  %segments = train.input "segments" micro : tensor<1x5xi32>
  %wte = train.get @wte : tensor<10x8xf32>
  // CHECK: %[[WK:.*]] = train.get @k
  %wk = train.get @k : tensor<8x4xf32>
  // CHECK: %[[Q:.*]] = nn.gather
  %q = nn.gather %wte at %ids : tensor<10x8xf32>, tensor<1x5xi32>
  // CHECK: %[[K:.*]] = nn.matmul
  %k = nn.matmul %q, %wk : tensor<1x5x8xf32>, tensor<8x4xf32>
  // CHECK: %[[OUT:.*]], %[[LSE:.*]] = nn.attention
  %out, %lse = nn.attention %q, %k, %k heads 4 kv_heads 2 causal segments %segments : tensor<1x5xi32> : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  %l = nn.reduce sum %out over [0, 1, 2] : tensor<1x5x8xf32>
  train.minimize %l : tensor<f32>
}
// CHECK: %[[G:.*]] = nn.broadcast %{{.*}} to [1, 5, 8]
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = nn.attention_grad %[[Q]], %[[K]], %[[K]], %[[OUT]], %[[LSE]], %[[G]] heads 4 kv_heads 2 causal scale 0.7071067811865475 segments
// CHECK: %[[DKV:.*]] = nn.add %[[DK]], %[[DV]]
// CHECK: %[[DX:.*]] = nn.matmul %[[DKV]], %[[WK]] transposed
// CHECK: %[[DWK:.*]] = nn.matmul %[[Q]] transposed, %[[DKV]] reduce_batch
// CHECK: %[[DQX:.*]] = nn.add %[[DQ]], %[[DX]]
// CHECK: %[[ZERO:.*]] = nn.constant 0 : tensor<10x8xf32>
// CHECK: %[[DWTE:.*]] = nn.scatter_add %[[DQX]] into %[[ZERO]] at %[[IDS]]
// CHECK: train.gradient @wte, %[[DWTE]]
// CHECK: train.gradient @k, %[[DWK]]

// The log-sum-exp has a cotangent, and the output has none.
train.state parameter @w : tensor<1x5x8xf32>
// CHECK-LABEL: train.entry @log_sum_exp
train.entry @log_sum_exp as micro_step {
  %q = train.get @w : tensor<1x5x8xf32>
  %out, %lse = nn.attention %q, %q, %q heads 2 : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
  %l = nn.reduce sum %lse over [0, 1, 2] : tensor<1x2x5xf32>
  train.minimize %l : tensor<f32>
}
// CHECK: %[[NONE:.*]] = nn.constant 0 : tensor<1x5x8xf32>
// CHECK: nn.attention_grad %{{.*}}, %[[NONE]] heads 2 kv_heads 2 scale 0.5 dlse %{{.*}} : tensor<1x2x5xf32> :
