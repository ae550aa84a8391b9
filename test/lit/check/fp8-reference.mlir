// RUN: trainc-check %s --reference

// Scaled products and conversions of fp8 in the reference. Numbers are worked out by hand.

// 2 (1 * 1) + 1: the sums of 16 products of ones, times both scales, and what they are added to.
func.func @product(
    %a: tensor<1x16xf32> {check.values = dense<1.0> : tensor<1x16xf32>}, %b: tensor<16x16xf32> {check.values = dense<0.5> : tensor<16x16xf32>},
    %s: tensor<f32> {check.values = dense<4.0> : tensor<f32>}, %t: tensor<f32> {check.values = dense<0.125> : tensor<f32>},
    %c: tensor<1x16xf32> {check.values = dense<1.0> : tensor<1x16xf32>})
    -> (tensor<1x16xf32> {check.expect = dense<5.0> : tensor<1x16xf64>}) {
  %a8 = nn.convert %a to f8E5M2 : tensor<1x16xf32>
  %b8 = nn.convert %b to f8E4M3FN : tensor<16x16xf32>
  %r = nn.matmul %a8, %b8 transposed to f32 scaled %s, %t : tensor<f32>, tensor<f32> accumulate %c : tensor<1x16xf32> : tensor<1x16xf8E5M2>, tensor<16x16xf8E4M3FN>
  return %r : tensor<1x16xf32>
}

// Ties to even, subnormal numbers (the least is 2^-9), the largest, and NaN.
func.func @e4m3(
    %x: tensor<12xf32> {check.values = dense<[17.0, 18.5, 19.0, 0.001953125, 0.0009765625, 0.002929688, 448.0, 464.0, -500.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<12xf32>})
    -> (tensor<12xf32> {check.expect = dense<[16.0, 18.0, 20.0, 0.001953125, 0.0, 0.00390625, 448.0, 448.0, -448.0, 448.0, -448.0, 0x7FF8000000000000]> : tensor<12xf64>}) {
  %r = nn.convert %x to f8E4M3FN : tensor<12xf32>
  %w = nn.convert %r to f32 : tensor<12xf8E4M3FN>
  return %w : tensor<12xf32>
}

func.func @e5m2(
    %x: tensor<8xf32> {check.values = dense<[9.0, 11.0, 1.52587890625e-05, 7.62939453125e-06, 57344.0, 65536.0, 0xFF800000, 0x7FC00000]> : tensor<8xf32>})
    -> (tensor<8xf32> {check.expect = dense<[8.0, 12.0, 1.52587890625e-05, 0.0, 57344.0, 57344.0, -57344.0, 0x7FF8000000000000]> : tensor<8xf64>}) {
  %r = nn.convert %x to f8E5M2 : tensor<8xf32>
  %w = nn.convert %r to f32 : tensor<8xf8E5M2>
  return %w : tensor<8xf32>
}

func.func @power_of_two(
    %x: tensor<9xf32> {check.values = dense<[1.0, 1.9999999, -3.0, 0.75, 0.0, 1.0e-39, 0x7F800000, 0x7FC00000, 1.1754944e-38]> : tensor<9xf32>})
    -> (tensor<9xf32> {check.expect = dense<[1.0, 1.0, 2.0, 0.5, 0.0, 0.0, 0x7FF0000000000000, 0x7FF0000000000000, 1.1754943508222875e-38]> : tensor<9xf64>}) {
  %r = nn.power_of_two %x : tensor<9xf32>
  return %r : tensor<9xf32>
}
