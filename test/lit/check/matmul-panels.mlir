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
func.func @one_row_of_many_terms(%a: tensor<1x531xf32>, %b: tensor<531x83xf32>, %c: tensor<1x83xf32>) -> tensor<1x83xf32> {
  %r = nn.matmul %a, %b accumulate %c : tensor<1x83xf32> : tensor<1x531xf32>, tensor<531x83xf32>
  return %r : tensor<1x83xf32>
}
func.func @one_row_transposed(%a: tensor<1x531xf32>, %b: tensor<83x531xf32>, %c: tensor<1x83xf32>) -> tensor<1x83xf32> {
  %r = nn.matmul %a, %b transposed accumulate %c : tensor<1x83xf32> : tensor<1x531xf32>, tensor<83x531xf32>
  return %r : tensor<1x83xf32>
}
func.func @one_row_each(%a: tensor<3x1x21xf32>, %b: tensor<3x33x21xf32>) -> tensor<3x1x33xf32> {
  %r = nn.matmul %a, %b transposed : tensor<3x1x21xf32>, tensor<3x33x21xf32>
  return %r : tensor<3x1x33xf32>
}
func.func @many_tiles(%a: tensor<530x3xf32>, %b: tensor<3x790xf32>) -> tensor<530x790xf32> {
  %r = nn.matmul %a, %b : tensor<530x3xf32>, tensor<3x790xf32>
  return %r : tensor<530x790xf32>
}
func.func @batch(%a: tensor<3x10x40xf32>, %b: tensor<3x40x34xf32>) -> tensor<3x10x34xf32> {
  %r = nn.matmul %a, %b : tensor<3x10x40xf32>, tensor<3x40x34xf32>
  return %r : tensor<3x10x34xf32>
}
// The rows of the matrices are not contiguous: a loop over the batch sums the products.
func.func @summed_batch(%a: tensor<3x10x40xf32>, %b: tensor<3x40x34xf32>) -> tensor<10x34xf32> {
  %r = nn.matmul %a, %b reduce_batch : tensor<3x10x40xf32>, tensor<3x40x34xf32>
  return %r : tensor<10x34xf32>
}
func.func @accumulate(%a: tensor<10x300xf32>, %b: tensor<300x34xf32>, %c: tensor<10x34xf32>) -> tensor<10x34xf32> {
  %r = nn.matmul %a, %b accumulate %c : tensor<10x34xf32> : tensor<10x300xf32>, tensor<300x34xf32>
  return %r : tensor<10x34xf32>
}

// Several tiles with tails and more terms than one block.

func.func @tiles(%a: tensor<301x299xf32>, %b: tensor<299x419xf32>) -> tensor<301x419xf32> {
  %r = nn.matmul %a, %b : tensor<301x299xf32>, tensor<299x419xf32>
  return %r : tensor<301x419xf32>
}
func.func @tiles_lhs_transposed(%a: tensor<299x301xf32>, %b: tensor<299x419xf32>) -> tensor<301x419xf32> {
  %r = nn.matmul %a transposed, %b : tensor<299x301xf32>, tensor<299x419xf32>
  return %r : tensor<301x419xf32>
}
func.func @tiles_rhs_transposed(%a: tensor<301x299xf32>, %b: tensor<419x299xf32>) -> tensor<301x419xf32> {
  %r = nn.matmul %a, %b transposed : tensor<301x299xf32>, tensor<419x299xf32>
  return %r : tensor<301x419xf32>
}
func.func @tiles_both_transposed(%a: tensor<299x301xf32>, %b: tensor<419x299xf32>) -> tensor<301x419xf32> {
  %r = nn.matmul %a transposed, %b transposed : tensor<299x301xf32>, tensor<419x299xf32>
  return %r : tensor<301x419xf32>
}

// Batches of every layout, one weight for all, gradients of weights, a bias.

func.func @column(%a: tensor<517x300xf32>, %b: tensor<1x300xf32>) -> tensor<517x1xf32> {
  %r = nn.matmul %a, %b transposed : tensor<517x300xf32>, tensor<1x300xf32>
  return %r : tensor<517x1xf32>
}
func.func @batched_both_transposed(%a: tensor<5x20x33xf32>, %b: tensor<5x41x20xf32>) -> tensor<5x33x41xf32> {
  %r = nn.matmul %a transposed, %b transposed : tensor<5x20x33xf32>, tensor<5x41x20xf32>
  return %r : tensor<5x33x41xf32>
}
func.func @one_weight(%x: tensor<3x101x70xf32>, %w: tensor<90x70xf32>) -> tensor<3x101x90xf32> {
  %r = nn.matmul %x, %w transposed : tensor<3x101x70xf32>, tensor<90x70xf32>
  return %r : tensor<3x101x90xf32>
}
func.func @one_weight_lhs_transposed(%x: tensor<3x70x101xf32>, %w: tensor<70x90xf32>) -> tensor<3x101x90xf32> {
  %r = nn.matmul %x transposed, %w : tensor<3x70x101xf32>, tensor<70x90xf32>
  return %r : tensor<3x101x90xf32>
}
func.func @weight_gradient(%x: tensor<3x101x70xf32>, %g: tensor<3x101x90xf32>) -> tensor<70x90xf32> {
  %r = nn.matmul %x transposed, %g reduce_batch : tensor<3x101x70xf32>, tensor<3x101x90xf32>
  return %r : tensor<70x90xf32>
}
func.func @accumulated_weight_gradient(%x: tensor<3x101x70xf32>, %g: tensor<3x101x90xf32>, %c: tensor<70x90xf32>) -> tensor<70x90xf32> {
  %r = nn.matmul %x transposed, %g reduce_batch accumulate %c : tensor<70x90xf32> : tensor<3x101x70xf32>, tensor<3x101x90xf32>
  return %r : tensor<70x90xf32>
}
func.func @linear(%x: tensor<2x33x40xf32>, %w: tensor<40x50xf32>, %b: tensor<50xf32>) -> tensor<2x33x50xf32> {
  %p = nn.matmul %x, %w : tensor<2x33x40xf32>, tensor<40x50xf32>
  %s = nn.broadcast %b to [2, 33, 50] : tensor<50xf32>
  %r = nn.add %p, %s : tensor<2x33x50xf32>, tensor<2x33x50xf32>
  return %r : tensor<2x33x50xf32>
}
// Whole panels of every level: no page follows the matrices, of which nothing more may be read.
func.func @whole_panels(%a: tensor<8x8xf32>, %b: tensor<8x48xf32>) -> tensor<8x48xf32> {
  %r = nn.matmul %a, %b : tensor<8x8xf32>, tensor<8x48xf32>
  return %r : tensor<8x48xf32>
}
func.func @half_a_panel(%a: tensor<8x8xf32>, %b: tensor<8x24xf32>) -> tensor<8x24xf32> {
  %r = nn.matmul %a, %b : tensor<8x8xf32>, tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}
