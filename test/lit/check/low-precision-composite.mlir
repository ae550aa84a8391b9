// RUN: trainc-check %s --decompose

// Composite ops of bf16 and f16 against their decompositions, which round each step.

// --- bf16 ---

func.func @standardize_bf16(%x: tensor<2x3x7xbf16>) -> (tensor<2x3x7xbf16>, tensor<2x3xbf16>) {
  %y, %rstd = nn.standardize %x eps 1.0e-5 : tensor<2x3x7xbf16>
  return %y, %rstd : tensor<2x3x7xbf16>, tensor<2x3xbf16>
}
func.func @rms_standardize_bf16(%x: tensor<4x9xbf16>) -> (tensor<4x9xbf16>, tensor<4xbf16>) {
  %y, %rstd = nn.rms_standardize %x eps 0.5 : tensor<4x9xbf16>
  return %y, %rstd : tensor<4x9xbf16>, tensor<4xbf16>
}
func.func @softmax_bf16(%x: tensor<2x3x11xbf16> {check.range = [-3.0, 3.0]}) -> tensor<2x3x11xbf16> {
  %y = nn.softmax %x : tensor<2x3x11xbf16>
  return %y : tensor<2x3x11xbf16>
}
func.func @rope_bf16(%x: tensor<2x3x12xbf16>, %positions: tensor<3xi32> {check.integers = [0, 40]}) -> tensor<2x3x12xbf16> {
  %y = nn.rope %x positions %positions heads 3 theta 1.0e4 : tensor<2x3x12xbf16>, tensor<3xi32>
  return %y : tensor<2x3x12xbf16>
}
func.func @mse_bf16(%x: tensor<5x7xbf16>, %y: tensor<5x7xbf16>) -> tensor<5x7xbf16> {
  %e = nn.mse %x, %y : tensor<5x7xbf16>, tensor<5x7xbf16>
  return %e : tensor<5x7xbf16>
}
func.func @cross_entropy_bf16(%logits: tensor<2x6x5xbf16> {check.range = [-3.0, 3.0]}, %labels: tensor<2x6xi32> {check.integers = [-1, 6]})
    -> (tensor<2x6xbf16>, tensor<2x6xbf16>) {
  %nll, %lse = nn.cross_entropy %logits, %labels : tensor<2x6x5xbf16>, tensor<2x6xi32>
  return %nll, %lse : tensor<2x6xbf16>, tensor<2x6xbf16>
}
func.func @cross_entropy_smoothed_bf16(%logits: tensor<3x6xbf16>, %labels: tensor<3xi32> {check.integers = [0, 6]})
    -> (tensor<3xbf16>, tensor<3xbf16>) {
  %nll, %lse = nn.cross_entropy %logits, %labels smoothing 0.1 : tensor<3x6xbf16>, tensor<3xi32>
  return %nll, %lse : tensor<3xbf16>, tensor<3xbf16>
}
func.func @split_bf16(%x: tensor<3x10xbf16>) -> (tensor<3x5xbf16>, tensor<3x5xbf16>) {
  %a, %b = nn.split %x into 2 : tensor<3x10xbf16>
  return %a, %b : tensor<3x5xbf16>, tensor<3x5xbf16>
}

// --- f16 ---

func.func @standardize_f16(%x: tensor<2x3x7xf16>) -> (tensor<2x3x7xf16>, tensor<2x3xf16>) {
  %y, %rstd = nn.standardize %x eps 1.0e-5 : tensor<2x3x7xf16>
  return %y, %rstd : tensor<2x3x7xf16>, tensor<2x3xf16>
}
func.func @rms_standardize_f16(%x: tensor<4x9xf16>) -> (tensor<4x9xf16>, tensor<4xf16>) {
  %y, %rstd = nn.rms_standardize %x eps 0.5 : tensor<4x9xf16>
  return %y, %rstd : tensor<4x9xf16>, tensor<4xf16>
}
func.func @softmax_f16(%x: tensor<2x3x11xf16> {check.range = [-3.0, 3.0]}) -> tensor<2x3x11xf16> {
  %y = nn.softmax %x : tensor<2x3x11xf16>
  return %y : tensor<2x3x11xf16>
}
func.func @rope_f16(%x: tensor<2x3x12xf16>, %positions: tensor<3xi32> {check.integers = [0, 40]}) -> tensor<2x3x12xf16> {
  %y = nn.rope %x positions %positions heads 3 theta 1.0e4 : tensor<2x3x12xf16>, tensor<3xi32>
  return %y : tensor<2x3x12xf16>
}
func.func @mse_f16(%x: tensor<5x7xf16>, %y: tensor<5x7xf16>) -> tensor<5x7xf16> {
  %e = nn.mse %x, %y : tensor<5x7xf16>, tensor<5x7xf16>
  return %e : tensor<5x7xf16>
}
func.func @cross_entropy_f16(%logits: tensor<2x6x5xf16> {check.range = [-3.0, 3.0]}, %labels: tensor<2x6xi32> {check.integers = [-1, 6]})
    -> (tensor<2x6xf16>, tensor<2x6xf16>) {
  %nll, %lse = nn.cross_entropy %logits, %labels : tensor<2x6x5xf16>, tensor<2x6xi32>
  return %nll, %lse : tensor<2x6xf16>, tensor<2x6xf16>
}
func.func @cross_entropy_smoothed_f16(%logits: tensor<3x6xf16>, %labels: tensor<3xi32> {check.integers = [0, 6]})
    -> (tensor<3xf16>, tensor<3xf16>) {
  %nll, %lse = nn.cross_entropy %logits, %labels smoothing 0.1 : tensor<3x6xf16>, tensor<3xi32>
  return %nll, %lse : tensor<3xf16>, tensor<3xf16>
}
func.func @split_f16(%x: tensor<3x10xf16>) -> (tensor<3x5xf16>, tensor<3x5xf16>) {
  %a, %b = nn.split %x into 2 : tensor<3x10xf16>
  return %a, %b : tensor<3x5xf16>, tensor<3x5xf16>
}
