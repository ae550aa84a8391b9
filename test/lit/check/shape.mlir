// RUN: trainc-check %s --reference --gradients --decompose --kernels --bound=2e-7

func.func @sum(%x: tensor<2x3xf32> {check.values = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>})
    -> (tensor<2xf32> {check.expect = dense<[6.0, 15.0]> : tensor<2xf32>},
        tensor<3xf32> {check.expect = dense<[5.0, 7.0, 9.0]> : tensor<3xf32>},
        tensor<f32> {check.expect = dense<21.0> : tensor<f32>},
        tensor<2x1xf32> {check.expect = dense<[[6.0], [15.0]]> : tensor<2x1xf32>}) {
  %rows = nn.reduce sum %x over [-1] : tensor<2x3xf32>
  %columns = nn.reduce sum %x over [0] : tensor<2x3xf32>
  %all = nn.reduce sum %x over [0, 1] : tensor<2x3xf32>
  %kept = nn.reduce sum %x over [1] keep : tensor<2x3xf32>
  return %rows, %columns, %all, %kept : tensor<2xf32>, tensor<3xf32>, tensor<f32>, tensor<2x1xf32>
}
func.func @mean(%x: tensor<2x3xf32> {check.values = dense<[[1.0, 2.0, 6.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>})
    -> (tensor<2xf32> {check.expect = dense<[3.0, 5.0]> : tensor<2xf32>},
        tensor<1x1xf32> {check.expect = dense<4.0> : tensor<1x1xf32>}) {
  %rows = nn.reduce mean %x over [1] : tensor<2x3xf32>
  %all = nn.reduce mean %x over [-2, -1] keep : tensor<2x3xf32>
  return %rows, %all : tensor<2xf32>, tensor<1x1xf32>
}
func.func @max_min(%x: tensor<2x3xf32> {check.values = dense<[[1.0, -2.0, 6.0], [-4.0, -5.0, -6.0]]> : tensor<2x3xf32>})
    -> (tensor<2xf32> {check.expect = dense<[6.0, -4.0]> : tensor<2xf32>},
        tensor<3xf32> {check.expect = dense<[-4.0, -5.0, -6.0]> : tensor<3xf32>}) {
  %max = nn.reduce max %x over [1] : tensor<2x3xf32>
  %min = nn.reduce min %x over [0] : tensor<2x3xf32>
  return %max, %min : tensor<2xf32>, tensor<3xf32>
}
func.func @reduce_middle(%x: tensor<2x3x4xf32>) -> (tensor<2x4xf32>, tensor<2x1x4xf32>, tensor<3xf32>, tensor<2x4xf32>) {
  %sum = nn.reduce sum %x over [1] : tensor<2x3x4xf32>
  %mean = nn.reduce mean %x over [-2] keep : tensor<2x3x4xf32>
  %outer = nn.reduce sum %x over [0, 2] : tensor<2x3x4xf32>
  %max = nn.reduce max %x over [1] : tensor<2x3x4xf32>
  return %sum, %mean, %outer, %max : tensor<2x4xf32>, tensor<2x1x4xf32>, tensor<3xf32>, tensor<2x4xf32>
}
func.func @reduce_integers(%x: tensor<2x2xi32> {check.values = dense<[[1, -2], [5, 4]]> : tensor<2x2xi32>})
    -> (tensor<2xi32> {check.expect = dense<[-1, 9]> : tensor<2xi32>},
        tensor<2xi32> {check.expect = dense<[5, 4]> : tensor<2xi32>}) {
  %sum = nn.reduce sum %x over [1] : tensor<2x2xi32>
  %max = nn.reduce max %x over [0] : tensor<2x2xi32>
  return %sum, %max : tensor<2xi32>, tensor<2xi32>
}
func.func @broadcast(%row: tensor<3xf32> {check.values = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>},
                     %column: tensor<2x1xf32> {check.values = dense<[[4.0], [5.0]]> : tensor<2x1xf32>},
                     %one: tensor<f32> {check.values = dense<7.0> : tensor<f32>})
    -> (tensor<2x3xf32> {check.expect = dense<[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]> : tensor<2x3xf32>},
        tensor<2x3xf32> {check.expect = dense<[[4.0, 4.0, 4.0], [5.0, 5.0, 5.0]]> : tensor<2x3xf32>},
        tensor<2x2xf32> {check.expect = dense<7.0> : tensor<2x2xf32>},
        tensor<2x2x3xf32> {check.expect = dense<[[[4.0, 4.0, 4.0], [5.0, 5.0, 5.0]], [[4.0, 4.0, 4.0], [5.0, 5.0, 5.0]]]> : tensor<2x2x3xf32>}) {
  %a = nn.broadcast %row to [2, 3] : tensor<3xf32>
  %b = nn.broadcast %column to [2, 3] : tensor<2x1xf32>
  %c = nn.broadcast %one to [2, 2] : tensor<f32>
  %d = nn.broadcast %column to [2, 2, 3] : tensor<2x1xf32>
  return %a, %b, %c, %d : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x2x3xf32>
}
func.func @reshape(%x: tensor<2x3xf32> {check.values = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>})
    -> (tensor<3x2xf32> {check.expect = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>},
        tensor<6xf32> {check.expect = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>},
        tensor<2x1x3xf32> {check.expect = dense<[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]> : tensor<2x1x3xf32>}) {
  %a = nn.reshape %x to [3, 2] : tensor<2x3xf32>
  %b = nn.reshape %x to [-1] : tensor<2x3xf32>
  %c = nn.reshape %x to [0, 1, -1] : tensor<2x3xf32>
  return %a, %b, %c : tensor<3x2xf32>, tensor<6xf32>, tensor<2x1x3xf32>
}
func.func @transpose(%x: tensor<2x3xf32> {check.values = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>})
    -> (tensor<3x2xf32> {check.expect = dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>}) {
  %r = nn.transpose %x by [1, 0] : tensor<2x3xf32>
  return %r : tensor<3x2xf32>
}
func.func @transpose_cycle(%x: tensor<2x1x3xf32> {check.values = dense<[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]]> : tensor<2x1x3xf32>})
    -> (tensor<3x2x1xf32> {check.expect = dense<[[[1.0], [4.0]], [[2.0], [5.0]], [[3.0], [6.0]]]> : tensor<3x2x1xf32>}) {
  %r = nn.transpose %x by [2, 0, 1] : tensor<2x1x3xf32>
  return %r : tensor<3x2x1xf32>
}
func.func @slice(%x: tensor<2x4xf32> {check.values = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>})
    -> (tensor<2x2xf32> {check.expect = dense<[[2.0, 3.0], [6.0, 7.0]]> : tensor<2x2xf32>},
        tensor<1x4xf32> {check.expect = dense<[[5.0, 6.0, 7.0, 8.0]]> : tensor<1x4xf32>}) {
  %a = nn.slice %x dim -1 from 1 size 2 : tensor<2x4xf32>
  %b = nn.slice %x dim 0 from 1 size 1 : tensor<2x4xf32>
  return %a, %b : tensor<2x2xf32>, tensor<1x4xf32>
}
func.func @pad(%x: tensor<2x2xf32> {check.values = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>})
    -> (tensor<2x5xf32> {check.expect = dense<[[0.0, 1.0, 2.0, 0.0, 0.0], [0.0, 3.0, 4.0, 0.0, 0.0]]> : tensor<2x5xf32>},
        tensor<3x2xf32> {check.expect = dense<[[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]> : tensor<3x2xf32>}) {
  %a = nn.pad %x dim 1 low 1 high 2 : tensor<2x2xf32>
  %b = nn.pad %x dim -2 low 0 high 1 : tensor<2x2xf32>
  return %a, %b : tensor<2x5xf32>, tensor<3x2xf32>
}
func.func @concat(%x: tensor<2x1xf32> {check.values = dense<[[1.0], [2.0]]> : tensor<2x1xf32>},
                  %y: tensor<2x2xf32> {check.values = dense<[[3.0, 4.0], [5.0, 6.0]]> : tensor<2x2xf32>})
    -> (tensor<2x4xf32> {check.expect = dense<[[1.0, 3.0, 4.0, 1.0], [2.0, 5.0, 6.0, 2.0]]> : tensor<2x4xf32>},
        tensor<4x2xf32> {check.expect = dense<[[3.0, 4.0], [5.0, 6.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<4x2xf32>}) {
  %a = nn.concat dim -1 %x, %y, %x : tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x1xf32>
  %b = nn.concat dim 0 %y, %y : tensor<2x2xf32>, tensor<2x2xf32>
  return %a, %b : tensor<2x4xf32>, tensor<4x2xf32>
}
func.func @split(%x: tensor<2x4xf32> {check.values = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>})
    -> (tensor<2x2xf32> {check.expect = dense<[[1.0, 2.0], [5.0, 6.0]]> : tensor<2x2xf32>},
        tensor<2x2xf32> {check.expect = dense<[[3.0, 4.0], [7.0, 8.0]]> : tensor<2x2xf32>},
        tensor<1x4xf32> {check.expect = dense<[[5.0, 6.0, 7.0, 8.0]]> : tensor<1x4xf32>}) {
  %a, %b = nn.split %x into 2 : tensor<2x4xf32>
  %top, %bottom = nn.split %x into 2 dim 0 : tensor<2x4xf32>
  return %a, %b, %bottom : tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x4xf32>
}
func.func @split_by_sizes(%x: tensor<2x4xf32> {check.values = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>})
    -> (tensor<2x1xf32> {check.expect = dense<[[1.0], [5.0]]> : tensor<2x1xf32>},
        tensor<2x3xf32> {check.expect = dense<[[2.0, 3.0, 4.0], [6.0, 7.0, 8.0]]> : tensor<2x3xf32>}) {
  %a, %b = nn.split %x into [1, 3] : tensor<2x4xf32>
  return %a, %b : tensor<2x1xf32>, tensor<2x3xf32>
}
func.func @split_by_sizes_unused(%x: tensor<6x2xf32>) -> tensor<3x2xf32> {
  %a, %b, %c = nn.split %x into [1, 3, 2] dim 0 : tensor<6x2xf32>
  return %b : tensor<3x2xf32>
}
func.func @split_unused(%x: tensor<2x6xf32>) -> tensor<2x2xf32> {
  %a, %b, %c = nn.split %x into 3 : tensor<2x6xf32>
  return %b : tensor<2x2xf32>
}
