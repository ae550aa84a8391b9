// RUN: trainc compile %s -o %t.plan && trainc dump %t.plan | FileCheck %s

// The gradient of o.bias, a sum over one row, is a view of the layer's gradient, which is read again while ranks sum. So the sum of h.0 is
// made elsewhere. In h.1 nothing reads it again.
// CHECK: all-reduce over shard [[H1:micro_step\.[0-9]+\.h\.1]] -> [[H1]] f32 elements=1024
// CHECK: all-reduce over shard micro_step.{{[0-9]+}}.h.0 -> micro_step.{{[0-9]+}} f32 elements=1024
nn.block @layer(%arg0: tensor<?x1x4xf32>) {
  %0 = nn.linear "k" %arg0 to 2 init normal(0.5)
  %out, %lse = nn.attention %arg0, %0, %arg0 heads 2 kv_heads 1 causal
  %1 = nn.linear "o" %out to 4 init normal(0.5)
  %2 = nn.add %arg0, %1
  nn.return %2
}
nn.model @m(%features: tensor<?x1x1xf32>, %labels: tensor<?xi32>) {
  %0 = nn.linear "in" %features to 4 init normal(1)
  %1 = nn.repeat @layer "h" times 2 (%0)
  nn.loss "loss" %1
}
train.program @p {
  model @m
  optimizer sgd(lr 0.01)
  schedule constant
  batch 1 ranks 2
}
