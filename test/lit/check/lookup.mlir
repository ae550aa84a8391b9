// RUN: trainc-check %s --reference --gradients --kernels --bound=1e-7

func.func @gather(%table: tensor<3x2xf32> {check.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>},
                  %ids: tensor<2x2xi32> {check.values = dense<[[2, 0], [2, 1]]> : tensor<2x2xi32>})
    -> (tensor<2x2x2xf32> {check.expect = dense<[[[5.0, 6.0], [1.0, 2.0]], [[5.0, 6.0], [3.0, 4.0]]]> : tensor<2x2x2xf32>}) {
  %r = nn.gather %table at %ids : tensor<3x2xf32>, tensor<2x2xi32>
  return %r : tensor<2x2x2xf32>
}
func.func @gather_out_of_range(%table: tensor<3x2xf32> {check.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>},
                               %ids: tensor<4xi32> {check.values = dense<[-1, 1, 3, -100]> : tensor<4xi32>})
    -> (tensor<4x2xf32> {check.expect = dense<[[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [0.0, 0.0]]> : tensor<4x2xf32>}) {
  %r = nn.gather %table at %ids : tensor<3x2xf32>, tensor<4xi32>
  return %r : tensor<4x2xf32>
}
func.func @scatter_add(%table: tensor<3x2xf32> {check.values = dense<10.0> : tensor<3x2xf32>},
                       %ids: tensor<5xi32> {check.values = dense<[2, 0, 2, 3, -1]> : tensor<5xi32>},
                       %updates: tensor<5x2xf32> {check.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 7.0], [8.0, 8.0]]> : tensor<5x2xf32>})
    -> (tensor<3x2xf32> {check.expect = dense<[[13.0, 14.0], [10.0, 10.0], [16.0, 18.0]]> : tensor<3x2xf32>})
    attributes {check.no_gradients = "scatter_add arises in backwards only"} {
  %r = nn.scatter_add %updates into %table at %ids : tensor<5x2xf32>, tensor<3x2xf32>, tensor<5xi32>
  return %r : tensor<3x2xf32>
}
func.func @gather_many(%table: tensor<5x3xf32>, %ids: tensor<2x4xi32> {check.integers = [-1, 7]}) -> tensor<2x4x3xf32> {
  %r = nn.gather %table at %ids : tensor<5x3xf32>, tensor<2x4xi32>
  return %r : tensor<2x4x3xf32>
}
// One row, so long that tiles share it.
func.func @long_row(%table: tensor<3x40001xf32>, %id: tensor<1xi32> {check.values = dense<2> : tensor<1xi32>}) -> tensor<1x40001xf32>
    attributes {check.no_gradients = "40001 differences"} {
  %row = nn.gather %table at %id : tensor<3x40001xf32>, tensor<1xi32>
  return %row : tensor<1x40001xf32>
}
