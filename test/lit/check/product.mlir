// RUN: trainc-check %s --reference --bound=1e-12

// nn.product, a matrix product with its epilogue, as the interpreter runs it.

func.func @bias(%x: tensor<2x2xf32> {check.values = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>},
                %w: tensor<2x2xf32> {check.values = dense<[[1.0, 0.0], [2.0, 1.0]]> : tensor<2x2xf32>},
                %b: tensor<2xf32> {check.values = dense<[10.0, 20.0]> : tensor<2xf32>},
                %c: tensor<2x2xf32> {check.values = dense<[[100.0, 0.0], [0.0, 0.0]]> : tensor<2x2xf32>})
    -> (tensor<2x2xf32> {check.expect = dense<[[111.0, 24.0], [13.0, 30.0]]> : tensor<2x2xf32>}) {
  %r = nn.product %x, %w transposed accumulate %c : tensor<2x2xf32> bias %b : tensor<2xf32> : tensor<2x2xf32>, tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

// Both forms of GELU, and what they are applied to.
func.func @gelu(%x: tensor<1x1xf32> {check.values = dense<[[2.0]]> : tensor<1x1xf32>},
                %w: tensor<1x3xf32> {check.values = dense<[[0.5, -1.0, 0.0]]> : tensor<1x3xf32>})
    -> (tensor<1x3xf32> {check.expect = dense<[[0.8413447460685429, -0.04550026389635842, 0.0]]> : tensor<1x3xf64>},
        tensor<1x3xf32> {check.expect = dense<[[1.0, -2.0, 0.0]]> : tensor<1x3xf32>},
        tensor<1x3xf32> {check.expect = dense<[[0.8411919906082768, -0.045402305912224938, 0.0]]> : tensor<1x3xf64>}) {
  %r:2 = nn.product %x, %w activation gelu before : tensor<1x1xf32>, tensor<1x3xf32>
  %s = nn.product %x, %w activation gelu_tanh : tensor<1x1xf32>, tensor<1x3xf32>
  return %r#0, %r#1, %s : tensor<1x3xf32>, tensor<1x3xf32>, tensor<1x3xf32>
}

// GELU's gradients, 2 and 3 times the slope at 0 and 1, and the sums of the columns.
func.func @gelu_gradients(%x: tensor<2x1xf32> {check.values = dense<[[2.0], [3.0]]> : tensor<2x1xf32>},
                          %w: tensor<1x1xf32> {check.values = dense<[[1.0]]> : tensor<1x1xf32>},
                          %h: tensor<2x1xf32> {check.values = dense<[[0.0], [1.0]]> : tensor<2x1xf32>})
    -> (tensor<2x1xf32> {check.expect = dense<[[1.0], [3.249946411763059]]> : tensor<2x1xf64>},
        tensor<1xf32> {check.expect = dense<[4.249946411763059]> : tensor<1xf64>},
        tensor<2x1xf32> {check.expect = dense<[[1.0], [3.248892251537348]]> : tensor<2x1xf64>}) {
  %r:2 = nn.product %x, %w activation gelu_gradient at %h : tensor<2x1xf32> sum result : tensor<2x1xf32>, tensor<1x1xf32>
  %s = nn.product %x, %w activation gelu_tanh_gradient at %h : tensor<2x1xf32> : tensor<2x1xf32>, tensor<1x1xf32>
  return %r#0, %r#1, %s : tensor<2x1xf32>, tensor<1xf32>, tensor<2x1xf32>
}

// Sums of the factors' terms, of factors as stored and transposed.
func.func @side_sums(%x: tensor<2x2xf32> {check.values = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>},
                     %w: tensor<2x2xf32> {check.values = dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>})
    -> (tensor<2xf32> {check.expect = dense<[3.0, 7.0]> : tensor<2xf32>}, tensor<2xf32> {check.expect = dense<[4.0, 6.0]> : tensor<2xf32>},
        tensor<2xf32> {check.expect = dense<[12.0, 14.0]> : tensor<2xf32>}, tensor<2xf32> {check.expect = dense<[11.0, 15.0]> : tensor<2xf32>}) {
  %a:2 = nn.product %x, %w sum a : tensor<2x2xf32>, tensor<2x2xf32>
  %b:2 = nn.product %x transposed, %w sum a : tensor<2x2xf32>, tensor<2x2xf32>
  %c:2 = nn.product %x, %w sum b : tensor<2x2xf32>, tensor<2x2xf32>
  %d:2 = nn.product %x, %w transposed sum b : tensor<2x2xf32>, tensor<2x2xf32>
  return %a#1, %b#1, %c#1, %d#1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
