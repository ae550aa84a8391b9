// Ops of the examples: nn.cube, and prefixes of attention with tails in tiles and blocks.

func.func @cube(%x: tensor<37x83xf32> {check.range = [-2.0, 2.0]}) -> tensor<37x83xf32> {
  %r = nn.cube %x : tensor<37x83xf32>
  return %r : tensor<37x83xf32>
}
func.func @prefix(%q: tensor<1x150x8xf32>, %k: tensor<1x150x8xf32>, %v: tensor<1x150x8xf32>) -> tensor<1x150x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal prefix 37 : tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>
  return %out : tensor<1x150x8xf32>
}
func.func @prefix_with_fewer_queries(%q: tensor<1x70x8xf32>, %k: tensor<1x150x8xf32>, %v: tensor<1x150x8xf32>) -> tensor<1x70x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal prefix 101 : tensor<1x70x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>
  return %out : tensor<1x70x8xf32>
}
func.func @prefix_gradients(%q: tensor<1x150x8xf32>, %k: tensor<1x150x8xf32>, %v: tensor<1x150x8xf32>, %g: tensor<1x150x8xf32>)
    -> (tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal prefix 45 scale 0.5 : tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 2 causal prefix 45 scale 0.5 : tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x2x150xf32>, tensor<1x150x8xf32>
  return %dq, %dk, %dv : tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>
}
