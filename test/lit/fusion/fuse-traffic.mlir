// RUN: trainc-opt %s --fuse=print-traffic -verify-diagnostics

// Before: three ops of three tensors, two and three of 512 bytes. After: two inputs and one output.
// expected-remark @below {{1 kernels; bytes moved: 4096 before fusion, 1536 after}}
func.func @chain(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %a = nn.add %x, %y : tensor<8x16xf32>, tensor<8x16xf32>
  %e = nn.exp %a : tensor<8x16xf32>
  %m = nn.mul %e, %x : tensor<8x16xf32>, tensor<8x16xf32>
  return %m : tensor<8x16xf32>
}
