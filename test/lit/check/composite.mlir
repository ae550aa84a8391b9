// RUN: trainc-check %s --reference --gradients --decompose --kernels --bound=5e-7

// Gradients and decompositions; values are in the pytorch-*.mlir files.

func.func @standardize(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %y, %rstd = nn.standardize %x eps 1.0e-5 : tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}
func.func @rms_standardize(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %y, %rstd = nn.rms_standardize %x eps 1.0e-5 : tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}
func.func @standardize_large_eps(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %y, %rstd = nn.standardize %x eps 0.5 : tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
func.func @rms_standardize_large_eps(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %y, %rstd = nn.rms_standardize %x eps 0.5 : tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
func.func @softmax(%x: tensor<2x3x5xf32> {check.range = [-3.0, 3.0]}) -> tensor<2x3x5xf32> {
  %y = nn.softmax %x : tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}
func.func @rope(%x: tensor<2x3x12xf32>, %positions: tensor<3xi32> {check.integers = [0, 40]}) -> tensor<2x3x12xf32> {
  %y = nn.rope %x positions %positions heads 3 theta 1.0e4 : tensor<2x3x12xf32>, tensor<3xi32>
  return %y : tensor<2x3x12xf32>
}
func.func @rope_inverse(%x: tensor<2x3x8xf32>, %positions: tensor<2x3xi32> {check.integers = [0, 40]}) -> tensor<2x3x8xf32> {
  %y = nn.rope %x positions %positions heads 2 theta 1.0e4 inverse : tensor<2x3x8xf32>, tensor<2x3xi32>
  return %y : tensor<2x3x8xf32>
}
func.func @rope_and_back(%x: tensor<1x2x4xf32> {check.values = dense<[[[1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 0.25, 2.0]]]> : tensor<1x2x4xf32>},
                         %positions: tensor<2xi32> {check.values = dense<[5, 9]> : tensor<2xi32>})
    -> (tensor<1x2x4xf32> {check.expect = dense<[[[1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 0.25, 2.0]]]> : tensor<1x2x4xf32>}) {
  %y = nn.rope %x positions %positions heads 1 theta 10.0 : tensor<1x2x4xf32>, tensor<2xi32>
  %z = nn.rope %y positions %positions heads 1 theta 10.0 inverse : tensor<1x2x4xf32>, tensor<2xi32>
  return %z : tensor<1x2x4xf32>
}
func.func @rope_part(%x: tensor<2x3x12xf32>, %positions: tensor<3xi32> {check.integers = [0, 40]}) -> tensor<2x3x12xf32> {
  %y = nn.rope %x positions %positions heads 2 theta 1.0e4 rotary 4 : tensor<2x3x12xf32>, tensor<3xi32>
  return %y : tensor<2x3x12xf32>
}
func.func @rope_interleaved(%x: tensor<2x3x12xf32>, %positions: tensor<3xi32> {check.integers = [0, 40]}) -> tensor<2x3x12xf32> {
  %y = nn.rope %x positions %positions heads 2 theta 1.0e4 interleaved : tensor<2x3x12xf32>, tensor<3xi32>
  return %y : tensor<2x3x12xf32>
}
func.func @rope_linear(%x: tensor<2x3x12xf32>, %positions: tensor<3xi32> {check.integers = [0, 40]}) -> tensor<2x3x12xf32> {
  %y = nn.rope %x positions %positions heads 2 theta 1.0e4 scaling linear(factor 8) : tensor<2x3x12xf32>, tensor<3xi32>
  return %y : tensor<2x3x12xf32>
}
func.func @rope_llama3(%x: tensor<2x3x32xf32>, %positions: tensor<2x3xi32> {check.integers = [0, 40]}) -> tensor<2x3x32xf32> {
  %y = nn.rope %x positions %positions heads 2 theta 1.0e4 scaling llama3(factor 8, low 1, high 4, original 32) : tensor<2x3x32xf32>, tensor<2x3xi32>
  return %y : tensor<2x3x32xf32>
}
// The factor of cosines and sines is a factor of the gradient, and not of numbers that stay.
func.func @rope_yarn(%x: tensor<2x3x12xf32>, %positions: tensor<3xi32> {check.integers = [0, 40]}) -> tensor<2x3x12xf32> {
  %y = nn.rope %x positions %positions heads 1 theta 1.0e4 rotary 10 interleaved scaling yarn(factor 4, original 512, beta_fast 16, attention_factor 1.5) : tensor<2x3x12xf32>, tensor<3xi32>
  return %y : tensor<2x3x12xf32>
}
func.func @rope_longrope(%x: tensor<2x3x12xf32>, %positions: tensor<3xi32> {check.integers = [0, 40]}) -> tensor<2x3x12xf32> {
  %y = nn.rope %x positions %positions heads 2 theta 1.0e4 inverse scaling longrope(factors [1, 1.5, 30], attention_factor 1.2) : tensor<2x3x12xf32>, tensor<3xi32>
  return %y : tensor<2x3x12xf32>
}
// Position 1 at frequencies 1 and 0.
func.func @rope_proportional(%x: tensor<1x1x4xf32> {check.values = dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>},
                             %positions: tensor<1xi32> {check.values = dense<1> : tensor<1xi32>})
    -> (tensor<1x1x4xf32> {check.expect = dense<[[[-1.9841106485555497, 2.0, 2.4623779024123157, 4.0]]]> : tensor<1x1x4xf64>}) {
  %y = nn.rope %x positions %positions heads 1 theta 10 scaling proportional(share 0.5) : tensor<1x1x4xf32>, tensor<1xi32>
  return %y : tensor<1x1x4xf32>
}
func.func @positions(%tokens: tensor<2x3xi32> {check.integers = [0, 9]}, %from: tensor<i32> {check.values = dense<7> : tensor<i32>})
    -> (tensor<3xi32> {check.expect = dense<[0, 1, 2]> : tensor<3xi32>},
        tensor<3xi32> {check.expect = dense<[7, 8, 9]> : tensor<3xi32>}) {
  %a = nn.positions %tokens : tensor<2x3xi32>
  %b = nn.positions %tokens from %from : tensor<i32> : tensor<2x3xi32>
  return %a, %b : tensor<3xi32>, tensor<3xi32>
}

func.func @mse(%x: tensor<2x3xf32> {check.values = dense<[[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]]> : tensor<2x3xf32>},
               %y: tensor<2x3xf32> {check.values = dense<[[1.5, 0.0, 3.0], [1.0, -0.5, -4.0]]> : tensor<2x3xf32>})
    -> (tensor<2x3xf32> {check.expect = dense<[[0.25, 4.0, 0.0], [4.0, 1.0, 16.0]]> : tensor<2x3xf32>}) {
  %e = nn.mse %x, %y : tensor<2x3xf32>, tensor<2x3xf32>
  return %e : tensor<2x3xf32>
}
func.func @mse_drawn(%x: tensor<5x7xf32> {check.range = [-3.0, 3.0]}, %y: tensor<5x7xf32> {check.range = [-3.0, 3.0]}) -> tensor<5x7xf32> {
  %e = nn.mse %x, %y : tensor<5x7xf32>, tensor<5x7xf32>
  return %e : tensor<5x7xf32>
}

// Labels -1 and 5 are out of range, and cost nothing.
func.func @cross_entropy(%logits: tensor<2x6x5xf32> {check.range = [-3.0, 3.0]}, %labels: tensor<2x6xi32> {check.integers = [-1, 6]})
    -> tensor<2x6xf32> {
  %nll, %lse = nn.cross_entropy %logits, %labels : tensor<2x6x5xf32>, tensor<2x6xi32>
  return %nll : tensor<2x6xf32>
}
func.func @cross_entropy_out_of_range(%logits: tensor<3x2xf32>, %labels: tensor<3xi32> {check.values = dense<[-1, 2, -100]> : tensor<3xi32>})
    -> (tensor<3xf32> {check.expect = dense<0.0> : tensor<3xf32>}) {
  %nll, %lse = nn.cross_entropy %logits, %labels smoothing 0.1 : tensor<3x2xf32>, tensor<3xi32>
  return %nll : tensor<3xf32>
}
func.func @cross_entropy_all_options(%logits: tensor<8x5xf32> {check.range = [-3.0, 3.0]}, %labels: tensor<8xi32> {check.integers = [0, 5]},
                                     %weights: tensor<5xf32> {check.constant, check.values = dense<[0.5, 1.0, 2.0, 0.0, 0.25]> : tensor<5xf32>})
    -> tensor<8xf32> {
  %nll, %lse = nn.cross_entropy %logits, %labels ignore 2 smoothing 0.1 weights %weights : tensor<5xf32> : tensor<8x5xf32>, tensor<8xi32>
  return %nll : tensor<8xf32>
}
