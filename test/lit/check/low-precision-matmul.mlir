// RUN: trainc-check %s --kernels

// Products of bf16 and f16 factors: sums in f32, rounded once or kept. Bounds follow from the README of this folder. What
// is added up here has less than 2^-24 x k of the terms' magnitudes as its error, far below half a unit of bf16.

func.func @plain(%a: tensor<5x37xbf16>, %b: tensor<37x19xbf16>) -> (tensor<5x19xbf16>, tensor<5x19xf32>) {
  %short = nn.matmul %a, %b : tensor<5x37xbf16>, tensor<37x19xbf16>
  %sums = nn.matmul %a, %b to f32 : tensor<5x37xbf16>, tensor<37x19xbf16>
  return %short, %sums : tensor<5x19xbf16>, tensor<5x19xf32>
}

func.func @transposed(%a: tensor<37x5xf16>, %b: tensor<19x37xf16>) -> (tensor<5x19xf16>, tensor<5x19xf32>) {
  %short = nn.matmul %a transposed, %b transposed : tensor<37x5xf16>, tensor<19x37xf16>
  %sums = nn.matmul %a transposed, %b transposed to f32 : tensor<37x5xf16>, tensor<19x37xf16>
  return %short, %sums : tensor<5x19xf16>, tensor<5x19xf32>
}

// Several blocks of terms, of which the sum is rounded once.
func.func @deep(%a: tensor<3x600xbf16>, %b: tensor<33x600xbf16>) -> tensor<3x33xbf16> {
  %short = nn.matmul %a, %b transposed : tensor<3x600xbf16>, tensor<33x600xbf16>
  return %short : tensor<3x33xbf16>
}

// The gradient of a weight, added to what is there already.
func.func @gradient(%x: tensor<2x7x33xbf16>, %dy: tensor<2x7x18xbf16>, %sum: tensor<33x18xf32>) -> tensor<33x18xf32> {
  %g = nn.matmul %x transposed, %dy reduce_batch to f32 accumulate %sum : tensor<33x18xf32> : tensor<2x7x33xbf16>, tensor<2x7x18xbf16>
  return %g : tensor<33x18xf32>
}

func.func @adds_short(%a: tensor<4x31xf16>, %b: tensor<31x17xf16>, %sum: tensor<4x17xf16>) -> tensor<4x17xf16> {
  %c = nn.matmul %a, %b accumulate %sum : tensor<4x17xf16> : tensor<4x31xf16>, tensor<31x17xf16>
  return %c : tensor<4x17xf16>
}

func.func @batches(%a: tensor<3x5x16xbf16>, %b: tensor<3x16x9xbf16>) -> tensor<3x5x9xbf16> {
  %c = nn.matmul %a, %b : tensor<3x5x16xbf16>, tensor<3x16x9xbf16>
  return %c : tensor<3x5x9xbf16>
}
