// RUN: trainc-check %s --reference --gradients --kernels --bound=2e-7

func.func @plain(%a: tensor<2x3xf32> {check.values = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>},
                 %b: tensor<3x2xf32> {check.values = dense<[[1.0, 0.0], [2.0, -1.0], [0.5, 3.0]]> : tensor<3x2xf32>})
    -> (tensor<2x2xf32> {check.expect = dense<[[6.5, 7.0], [17.0, 13.0]]> : tensor<2x2xf32>}) {
  %r = nn.matmul %a, %b : tensor<2x3xf32>, tensor<3x2xf32>
  return %r : tensor<2x2xf32>
}
func.func @lhs_transposed(%a: tensor<3x2xf32> {check.values = dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>},
                          %b: tensor<3x2xf32> {check.values = dense<[[1.0, 0.0], [2.0, -1.0], [0.5, 3.0]]> : tensor<3x2xf32>})
    -> (tensor<2x2xf32> {check.expect = dense<[[6.5, 7.0], [17.0, 13.0]]> : tensor<2x2xf32>}) {
  %r = nn.matmul %a transposed, %b : tensor<3x2xf32>, tensor<3x2xf32>
  return %r : tensor<2x2xf32>
}
func.func @rhs_transposed(%a: tensor<2x3xf32> {check.values = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>},
                          %b: tensor<2x3xf32> {check.values = dense<[[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]]> : tensor<2x3xf32>})
    -> (tensor<2x2xf32> {check.expect = dense<[[6.5, 7.0], [17.0, 13.0]]> : tensor<2x2xf32>}) {
  %r = nn.matmul %a, %b transposed : tensor<2x3xf32>, tensor<2x3xf32>
  return %r : tensor<2x2xf32>
}
func.func @both_transposed(%a: tensor<3x2xf32> {check.values = dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>},
                           %b: tensor<2x3xf32> {check.values = dense<[[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]]> : tensor<2x3xf32>})
    -> (tensor<2x2xf32> {check.expect = dense<[[6.5, 7.0], [17.0, 13.0]]> : tensor<2x2xf32>}) {
  %r = nn.matmul %a transposed, %b transposed : tensor<3x2xf32>, tensor<2x3xf32>
  return %r : tensor<2x2xf32>
}
func.func @batched(%a: tensor<2x1x2xf32> {check.values = dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>},
                   %b: tensor<2x2x1xf32> {check.values = dense<[[[1.0], [10.0]], [[100.0], [1000.0]]]> : tensor<2x2x1xf32>})
    -> (tensor<2x1x1xf32> {check.expect = dense<[[[21.0]], [[4300.0]]]> : tensor<2x1x1xf32>}) {
  %r = nn.matmul %a, %b : tensor<2x1x2xf32>, tensor<2x2x1xf32>
  return %r : tensor<2x1x1xf32>
}
func.func @one_weight_for_all(%a: tensor<2x1x2xf32> {check.values = dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>},
                              %w: tensor<2x2xf32> {check.values = dense<[[1.0, 0.0], [10.0, 1.0]]> : tensor<2x2xf32>})
    -> (tensor<2x1x2xf32> {check.expect = dense<[[[21.0, 2.0]], [[43.0, 4.0]]]> : tensor<2x1x2xf32>}) {
  %r = nn.matmul %a, %w : tensor<2x1x2xf32>, tensor<2x2xf32>
  return %r : tensor<2x1x2xf32>
}
func.func @reduce_batch(%a: tensor<2x1x2xf32> {check.values = dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>},
                        %b: tensor<2x1x1xf32> {check.values = dense<[[[1.0]], [[10.0]]]> : tensor<2x1x1xf32>})
    -> (tensor<2x1xf32> {check.expect = dense<[[31.0], [42.0]]> : tensor<2x1xf32>}) {
  %r = nn.matmul %a transposed, %b reduce_batch : tensor<2x1x2xf32>, tensor<2x1x1xf32>
  return %r : tensor<2x1xf32>
}
func.func @accumulate(%a: tensor<1x2xf32> {check.values = dense<[[1.0, 2.0]]> : tensor<1x2xf32>},
                      %b: tensor<2x1xf32> {check.values = dense<[[3.0], [4.0]]> : tensor<2x1xf32>},
                      %c: tensor<1x1xf32> {check.values = dense<100.0> : tensor<1x1xf32>})
    -> (tensor<1x1xf32> {check.expect = dense<111.0> : tensor<1x1xf32>}) {
  %r = nn.matmul %a, %b accumulate %c : tensor<1x1xf32> : tensor<1x2xf32>, tensor<2x1xf32>
  return %r : tensor<1x1xf32>
}

// Every form's gradient on larger shapes.

func.func @weight_in_out(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %r = nn.matmul %x, %w : tensor<2x3x4xf32>, tensor<4x5xf32>
  return %r : tensor<2x3x5xf32>
}
func.func @weight_out_in(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>) -> tensor<2x3x5xf32> {
  %r = nn.matmul %x, %w transposed : tensor<2x3x4xf32>, tensor<5x4xf32>
  return %r : tensor<2x3x5xf32>
}
func.func @lhs_transposed_one_weight(%x: tensor<2x4x3xf32>, %w: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %r = nn.matmul %x transposed, %w : tensor<2x4x3xf32>, tensor<4x5xf32>
  return %r : tensor<2x3x5xf32>
}
func.func @both_transposed_one_weight(%x: tensor<2x4x3xf32>, %w: tensor<5x4xf32>) -> tensor<2x3x5xf32> {
  %r = nn.matmul %x transposed, %w transposed : tensor<2x4x3xf32>, tensor<5x4xf32>
  return %r : tensor<2x3x5xf32>
}
func.func @batched_transposed(%a: tensor<2x2x4x3xf32>, %b: tensor<2x2x5x4xf32>) -> tensor<2x2x3x5xf32> {
  %r = nn.matmul %a transposed, %b transposed : tensor<2x2x4x3xf32>, tensor<2x2x5x4xf32>
  return %r : tensor<2x2x3x5xf32>
}
func.func @batched_rhs_transposed(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %r = nn.matmul %a, %b transposed : tensor<2x3x4xf32>, tensor<2x5x4xf32>
  return %r : tensor<2x3x5xf32>
}
func.func @batched_lhs_transposed(%a: tensor<2x4x3xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %r = nn.matmul %a transposed, %b : tensor<2x4x3xf32>, tensor<2x4x5xf32>
  return %r : tensor<2x3x5xf32>
}
func.func @reduced(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<3x5xf32> {
  %r = nn.matmul %a, %b reduce_batch : tensor<2x3x4xf32>, tensor<2x4x5xf32>
  return %r : tensor<3x5xf32>
}
func.func @reduced_lhs_transposed(%a: tensor<2x4x3xf32>, %b: tensor<2x4x5xf32>) -> tensor<3x5xf32> {
  %r = nn.matmul %a transposed, %b reduce_batch : tensor<2x4x3xf32>, tensor<2x4x5xf32>
  return %r : tensor<3x5xf32>
}
func.func @reduced_rhs_transposed(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>) -> tensor<3x5xf32> {
  %r = nn.matmul %a, %b transposed reduce_batch : tensor<2x3x4xf32>, tensor<2x5x4xf32>
  return %r : tensor<3x5xf32>
}
func.func @accumulated(%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %r = nn.matmul %a, %b accumulate %c : tensor<2x3x5xf32> : tensor<2x3x4xf32>, tensor<4x5xf32>
  return %r : tensor<2x3x5xf32>
}
