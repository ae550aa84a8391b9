// RUN: trainc-check %s --reference --kernels --bound=1e-7

// The regions of kernels and chunks, as the interpreter runs them.

func.func @kernel(%x: tensor<2x3xf32> {check.values = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>},
                  %b: tensor<3xf32> {check.values = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>})
    -> (tensor<2x3xf32> {check.expect = dense<[[11.0, 22.0, 33.0], [14.0, 25.0, 36.0]]> : tensor<2x3xf32>},
        tensor<2xf32> {check.expect = dense<[66.0, 75.0]> : tensor<2xf32>}) {
  %r:2 = nn.kernel 2 x 3 (%a = %x : tensor<2x3xf32>, %c = %b : tensor<3xf32> at <*2, 3>) -> (tensor<2x3xf32>, tensor<2xf32>) {
    %d = nn.broadcast %c to [2, 3] : tensor<3xf32>
    %e = nn.add %a, %d : tensor<2x3xf32>, tensor<2x3xf32>
    %f = nn.reduce sum %e over [1] {nn.pattern = #nn.pattern<2, *3>} : tensor<2x3xf32>
    nn.yield %e, %f : tensor<2x3xf32>, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2xf32>
}

// Split inputs, shared ones and a running sum. The last iteration's sum is the result.
func.func @chunks(%x: tensor<4x2xf32> {check.values = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>},
                  %w: tensor<2xf32> {check.values = dense<[1.0, 10.0]> : tensor<2xf32>},
                  %z: tensor<2xf32> {check.values = dense<[100.0, 0.5]> : tensor<2xf32>})
    -> (tensor<4x2xf32> {check.expect = dense<[[1.0, 20.0], [3.0, 40.0], [5.0, 60.0], [7.0, 80.0]]> : tensor<4x2xf32>},
        tensor<2xf32> {check.expect = dense<[116.0, 200.5]> : tensor<2xf32>}) {
  %r:2 = nn.chunks 2 (%a = %x : tensor<4x2xf32> split 0, %b = %w : tensor<2xf32>, %s = %z : tensor<2xf32> carried)
      -> (tensor<4x2xf32> split 0, tensor<2xf32> carried) {
    %c = nn.broadcast %b to [2, 2] : tensor<2xf32>
    %d = nn.mul %a, %c : tensor<2x2xf32>, tensor<2x2xf32>
    %e = nn.reduce sum %d over [0] : tensor<2x2xf32>
    %f = nn.add %s, %e : tensor<2xf32>, tensor<2xf32>
    nn.yield %d, %f : tensor<2x2xf32>, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<4x2xf32>, tensor<2xf32>
}

// Split along the last dimension, two carried values that trade places.
func.func @chunks_of_columns(%x: tensor<2x4xf32> {check.values = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>},
                             %p: tensor<f32> {check.values = dense<1.0> : tensor<f32>},
                             %q: tensor<f32> {check.values = dense<2.0> : tensor<f32>})
    -> (tensor<f32> {check.expect = dense<2.0> : tensor<f32>}, tensor<f32> {check.expect = dense<1.0> : tensor<f32>},
        tensor<2x2xf32> {check.expect = dense<[[3.0, 7.0], [11.0, 15.0]]> : tensor<2x2xf32>}) {
  %r:3 = nn.chunks 1 (%a = %p : tensor<f32> carried, %b = %q : tensor<f32> carried, %c = %x : tensor<2x4xf32>)
      -> (tensor<f32> carried, tensor<f32> carried, tensor<2x4xf32> split 1) {
    nn.yield %b, %a, %c : tensor<f32>, tensor<f32>, tensor<2x4xf32>
  }
  %s = nn.chunks 2 (%c = %r#2 : tensor<2x4xf32> split 1) -> (tensor<2x2xf32> split 1) {
    %sum = nn.reduce sum %c over [1] keep : tensor<2x2xf32>
    nn.yield %sum : tensor<2x1xf32>
  }
  return %r#0, %r#1, %s : tensor<f32>, tensor<f32>, tensor<2x2xf32>
}
