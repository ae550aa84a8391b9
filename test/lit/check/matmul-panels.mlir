// RUN: trainc-check %s --kernels --bound=1e-5

// Sizes that end inside a panel, a block of terms and a tile, in every layout. The bound is that of sums of 500 terms
// of both signs.

func.func @plain(%a: tensor<19x300xf32>, %b: tensor<300x45xf32>) -> tensor<19x45xf32> {
  %r = nn.matmul %a, %b : tensor<19x300xf32>, tensor<300x45xf32>
  return %r : tensor<19x45xf32>
}
func.func @lhs_transposed(%a: tensor<517x21xf32>, %b: tensor<517x33xf32>) -> tensor<21x33xf32> {
  %r = nn.matmul %a transposed, %b : tensor<517x21xf32>, tensor<517x33xf32>
  return %r : tensor<21x33xf32>
}
func.func @rhs_transposed(%a: tensor<9x259xf32>, %b: tensor<70x259xf32>) -> tensor<9x70xf32> {
  %r = nn.matmul %a, %b transposed : tensor<9x259xf32>, tensor<70x259xf32>
  return %r : tensor<9x70xf32>
}
func.func @both_transposed(%a: tensor<12x5xf32>, %b: tensor<31x12xf32>) -> tensor<5x31xf32> {
  %r = nn.matmul %a transposed, %b transposed : tensor<12x5xf32>, tensor<31x12xf32>
  return %r : tensor<5x31xf32>
}
func.func @one_row(%a: tensor<1x64xf32>, %b: tensor<64x401xf32>) -> tensor<1x401xf32> {
  %r = nn.matmul %a, %b : tensor<1x64xf32>, tensor<64x401xf32>
  return %r : tensor<1x401xf32>
}
func.func @many_tiles(%a: tensor<530x3xf32>, %b: tensor<3x790xf32>) -> tensor<530x790xf32> {
  %r = nn.matmul %a, %b : tensor<530x3xf32>, tensor<3x790xf32>
  return %r : tensor<530x790xf32>
}
func.func @batch(%a: tensor<3x10x40xf32>, %b: tensor<3x40x34xf32>) -> tensor<3x10x34xf32> {
  %r = nn.matmul %a, %b : tensor<3x10x40xf32>, tensor<3x40x34xf32>
  return %r : tensor<3x10x34xf32>
}
// The rows of the matrices do not lie one below the other: a loop over the batch adds them up.
func.func @summed_batch(%a: tensor<3x10x40xf32>, %b: tensor<3x40x34xf32>) -> tensor<10x34xf32> {
  %r = nn.matmul %a, %b reduce_batch : tensor<3x10x40xf32>, tensor<3x40x34xf32>
  return %r : tensor<10x34xf32>
}
func.func @accumulate(%a: tensor<10x300xf32>, %b: tensor<300x34xf32>, %c: tensor<10x34xf32>) -> tensor<10x34xf32> {
  %r = nn.matmul %a, %b accumulate %c : tensor<10x34xf32> : tensor<10x300xf32>, tensor<300x34xf32>
  return %r : tensor<10x34xf32>
}
