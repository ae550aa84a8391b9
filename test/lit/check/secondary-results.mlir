// RUN: trainc-check %s --gradients --decompose --kernels --bound=5e-7

// Gradients through the results that usually serve the backward only, and through some of several results.

func.func @standardize_both(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>) {
  %y, %rstd = nn.standardize %x eps 1e-5 : tensor<3x5xf32>
  return %y, %rstd : tensor<3x5xf32>, tensor<3xf32>
}
func.func @standardize_rstd(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %y, %rstd = nn.standardize %x eps 0.5 : tensor<3x5xf32>
  return %rstd : tensor<3xf32>
}
func.func @rms_standardize_both(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>) {
  %y, %rstd = nn.rms_standardize %x eps 1e-5 : tensor<3x5xf32>
  return %y, %rstd : tensor<3x5xf32>, tensor<3xf32>
}
func.func @cross_entropy_both(%logits: tensor<4x5xf32> {check.range = [-3.0, 3.0]}, %labels: tensor<4xi32> {check.integers = [0, 5]})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %nll, %lse = nn.cross_entropy %logits, %labels ignore 1 : tensor<4x5xf32>, tensor<4xi32>
  return %nll, %lse : tensor<4xf32>, tensor<4xf32>
}
func.func @log_sum_exp(%logits: tensor<4x5xf32> {check.range = [-3.0, 3.0]}, %labels: tensor<4xi32> {check.integers = [0, 5]})
    -> tensor<4xf32> {
  %nll, %lse = nn.cross_entropy %logits, %labels : tensor<4x5xf32>, tensor<4xi32>
  return %lse : tensor<4xf32>
}
func.func @cross_entropy_smoothing_alone(%logits: tensor<4x5xf32> {check.range = [-3.0, 3.0]}, %labels: tensor<4xi32> {check.integers = [0, 5]})
    -> tensor<4xf32> {
  %nll, %lse = nn.cross_entropy %logits, %labels smoothing 0.2 : tensor<4x5xf32>, tensor<4xi32>
  return %nll : tensor<4xf32>
}
func.func @cross_entropy_weights_alone(%logits: tensor<4x5xf32> {check.range = [-3.0, 3.0]}, %labels: tensor<4xi32> {check.integers = [0, 5]},
                                       %weights: tensor<5xf32> {check.constant, check.values = dense<[0.5, 1.0, 2.0, 0.0, 0.25]> : tensor<5xf32>})
    -> tensor<4xf32> {
  %nll, %lse = nn.cross_entropy %logits, %labels weights %weights : tensor<5xf32> : tensor<4x5xf32>, tensor<4xi32>
  return %nll : tensor<4xf32>
}
func.func @split_one_of_three(%x: tensor<2x6xf32>) -> tensor<2x2xf32> {
  %a, %b, %c = nn.split %x into 3 : tensor<2x6xf32>
  %y = nn.square %b : tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
func.func @split_first_dimension(%x: tensor<4x3xf32>) -> tensor<2x3xf32> {
  %a, %b = nn.split %x into 2 dim 0 : tensor<4x3xf32>
  %y = nn.mul %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
func.func @attention_both(%q: tensor<2x3x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x2x3xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %out, %lse : tensor<2x3x4xf32>, tensor<2x2x3xf32>
}
func.func @attention_log_sum_exp(%q: tensor<1x3x8xf32>, %k: tensor<1x3x4xf32>, %v: tensor<1x3x6xf32>,
                                 %segments: tensor<1x3xi32> {check.values = dense<[[0, 1, 1]]> : tensor<1x3xi32>}) -> tensor<1x4x3xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 scale 0.7 segments %segments : tensor<1x3xi32> : tensor<1x3x8xf32>, tensor<1x3x4xf32>, tensor<1x3x6xf32>
  return %lse : tensor<1x4x3xf32>
}
func.func @attention_log_sum_exp_by_heads(%q: tensor<2x3x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x4xf32>) -> tensor<2x3x2x2xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  %t = nn.transpose %lse by [0, 2, 1] : tensor<2x2x3xf32>
  %s = nn.reshape %t to [2, 3, 2, 1] : tensor<2x3x2xf32>
  %h = nn.reshape %out to [2, 3, 2, 2] : tensor<2x3x4xf32>
  %w = nn.broadcast %s to [2, 3, 2, 2] : tensor<2x3x2x1xf32>
  %y = nn.mul %h, %w : tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>
  return %y : tensor<2x3x2x2xf32>
}
