// Gradients of the ops of the examples.

func.func @cube(%x: tensor<6xf32> {check.values = dense<[-1.5, -0.5, 0.0, 0.5, 1.0, 2.0]> : tensor<6xf32>})
    -> (tensor<6xf32> {check.expect = dense<[-3.375, -0.125, 0.0, 0.125, 1.0, 8.0]> : tensor<6xf32>}) {
  %r = nn.cube %x : tensor<6xf32>
  return %r : tensor<6xf32>
}
func.func @prefix(%q: tensor<2x5x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x4xf32>) -> tensor<2x5x4xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal prefix 2 : tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>
  return %out : tensor<2x5x4xf32>
}
