// RUN: trainc-check %s --kernels --bound=2e-6

// Elementwise ops of bf16 and f16: computed in f32, and rounded once. Sizes leave tails in lanes.

func.func @neg_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.neg %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @abs_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.abs %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @square_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.square %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @relu_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.relu %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @exp_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.exp %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @log_bf16(%x: tensor<7x83xbf16> {check.range = [0.1, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.log %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @log1p_bf16(%x: tensor<7x83xbf16> {check.range = [-0.5, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.log1p %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @softplus_bf16(%x: tensor<7x83xbf16> {check.range = [-8.0, 8.0]}) -> tensor<7x83xbf16> {
  %r = nn.softplus %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @log_sigmoid_bf16(%x: tensor<7x83xbf16> {check.range = [-8.0, 8.0]}) -> tensor<7x83xbf16> {
  %r = nn.log_sigmoid %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @sqrt_bf16(%x: tensor<7x83xbf16> {check.range = [0.1, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.sqrt %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @rsqrt_bf16(%x: tensor<7x83xbf16> {check.range = [0.1, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.rsqrt %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @reciprocal_bf16(%x: tensor<7x83xbf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.reciprocal %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @sin_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.sin %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @cos_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.cos %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @tanh_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.tanh %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @erf_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.erf %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @sigmoid_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.sigmoid %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @silu_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.silu %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @gelu_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.gelu %x : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @gelu_tanh_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.gelu %x approximate tanh : tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @add_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xbf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.add %x, %y : tensor<7x83xbf16>, tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @sub_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xbf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.sub %x, %y : tensor<7x83xbf16>, tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @mul_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xbf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.mul %x, %y : tensor<7x83xbf16>, tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @div_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xbf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.div %x, %y : tensor<7x83xbf16>, tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @max_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xbf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.max %x, %y : tensor<7x83xbf16>, tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @min_bf16(%x: tensor<7x83xbf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xbf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xbf16> {
  %r = nn.min %x, %y : tensor<7x83xbf16>, tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @compare_bf16(%x: tensor<7x83xbf16>, %y: tensor<7x83xbf16>) -> (tensor<7x83xi1>, tensor<7x83xi1>) {
  %a = nn.compare lt %x, %y : tensor<7x83xbf16>, tensor<7x83xbf16>
  %b = nn.compare eq %x, %x : tensor<7x83xbf16>, tensor<7x83xbf16>
  return %a, %b : tensor<7x83xi1>, tensor<7x83xi1>
}
func.func @select_bf16(%c: tensor<7x83xi1>, %x: tensor<7x83xbf16>, %y: tensor<7x83xbf16>) -> tensor<7x83xbf16> {
  %r = nn.select %c, %x, %y : tensor<7x83xi1>, tensor<7x83xbf16>, tensor<7x83xbf16>
  return %r : tensor<7x83xbf16>
}
func.func @constants_bf16(%x: tensor<7x83xbf16>) -> (tensor<7x83xbf16>, tensor<7x83xbf16>) {
  %c = nn.constant 0.1 : tensor<7x83xbf16>
  %i = nn.iota 1 : tensor<7x83xbf16>
  %a = nn.mul %x, %c : tensor<7x83xbf16>, tensor<7x83xbf16>
  %b = nn.mul %x, %i : tensor<7x83xbf16>, tensor<7x83xbf16>
  return %a, %b : tensor<7x83xbf16>, tensor<7x83xbf16>
}
func.func @random_bf16(%seed: tensor<i64> {check.values = dense<7> : tensor<i64>}, %step: tensor<i64> {check.values = dense<3> : tensor<i64>},
                     %offset: tensor<i64> {check.values = dense<1> : tensor<i64>}) -> (tensor<7x83xbf16>, tensor<7x83xbf16>) {
  %u = nn.random stream 5 seed %seed step %step offset %offset : tensor<7x83xbf16> : tensor<i64>, tensor<i64>, tensor<i64>
  %n = nn.random normal stream 6 seed %seed step %step offset %offset : tensor<7x83xbf16> : tensor<i64>, tensor<i64>, tensor<i64>
  return %u, %n : tensor<7x83xbf16>, tensor<7x83xbf16>
}
// The largest, infinite and subnormal numbers, and no number; to the last bit but one.
func.func @special_bf16(%x: tensor<8xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, -0.0]> : tensor<8xf32>})
    -> (tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>) attributes {check.kernel_tolerance = 0.0} {
  %twice = nn.add %x, %x : tensor<8xbf16>, tensor<8xbf16>
  %square = nn.square %x : tensor<8xbf16>
  %half = nn.constant 0.5 : tensor<8xbf16>
  %halved = nn.mul %x, %half : tensor<8xbf16>, tensor<8xbf16>
  %inverse = nn.reciprocal %x : tensor<8xbf16>
  %relu = nn.relu %x : tensor<8xbf16>
  return %twice, %square, %halved, %inverse, %relu : tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>
}
func.func @f32_to_bf16(%x: tensor<7x83xf32> {check.range = [-300.0, 300.0]}) -> tensor<7x83xbf16> {
  %r = nn.convert %x to bf16 : tensor<7x83xf32>
  return %r : tensor<7x83xbf16>
}
func.func @bf16_to_f32(%x: tensor<7x83xbf16> {check.range = [-300.0, 300.0]}) -> tensor<7x83xf32> {
  %r = nn.convert %x to f32 : tensor<7x83xbf16>
  return %r : tensor<7x83xf32>
}
func.func @f64_to_bf16(%x: tensor<7x83xf64> {check.range = [-300.0, 300.0]}) -> tensor<7x83xbf16> {
  %r = nn.convert %x to bf16 : tensor<7x83xf64>
  return %r : tensor<7x83xbf16>
}
func.func @bf16_to_f64(%x: tensor<7x83xbf16> {check.range = [-300.0, 300.0]}) -> tensor<7x83xf64> {
  %r = nn.convert %x to f64 : tensor<7x83xbf16>
  return %r : tensor<7x83xf64>
}
func.func @i32_to_bf16(%x: tensor<7x83xi32> {check.integers = [-40000, 40000]}) -> tensor<7x83xbf16> {
  %r = nn.convert %x to bf16 : tensor<7x83xi32>
  return %r : tensor<7x83xbf16>
}
func.func @bf16_to_i32(%x: tensor<7x83xbf16> {check.range = [-300.0, 300.0]}) -> tensor<7x83xi32> {
  %r = nn.convert %x to i32 : tensor<7x83xbf16>
  return %r : tensor<7x83xi32>
}
func.func @i64_to_bf16(%x: tensor<7x83xi64> {check.integers = [-40000, 40000]}) -> tensor<7x83xbf16> {
  %r = nn.convert %x to bf16 : tensor<7x83xi64>
  return %r : tensor<7x83xbf16>
}
func.func @bf16_to_i64(%x: tensor<7x83xbf16> {check.range = [-300.0, 300.0]}) -> tensor<7x83xi64> {
  %r = nn.convert %x to i64 : tensor<7x83xbf16>
  return %r : tensor<7x83xi64>
}
func.func @bf16_to_f16(%x: tensor<7x83xbf16> {check.range = [-300.0, 300.0]}) -> tensor<7x83xf16> {
  %r = nn.convert %x to f16 : tensor<7x83xbf16>
  return %r : tensor<7x83xf16>
}
func.func @i1_to_bf16(%x: tensor<7x83xi1>) -> tensor<7x83xbf16> {
  %r = nn.convert %x to bf16 : tensor<7x83xi1>
  return %r : tensor<7x83xbf16>
}
func.func @neg_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.neg %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @abs_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.abs %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @square_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.square %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @relu_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.relu %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @exp_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.exp %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @log_f16(%x: tensor<7x83xf16> {check.range = [0.1, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.log %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @log1p_f16(%x: tensor<7x83xf16> {check.range = [-0.5, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.log1p %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @softplus_f16(%x: tensor<7x83xf16> {check.range = [-8.0, 8.0]}) -> tensor<7x83xf16> {
  %r = nn.softplus %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @log_sigmoid_f16(%x: tensor<7x83xf16> {check.range = [-8.0, 8.0]}) -> tensor<7x83xf16> {
  %r = nn.log_sigmoid %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @sqrt_f16(%x: tensor<7x83xf16> {check.range = [0.1, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.sqrt %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @rsqrt_f16(%x: tensor<7x83xf16> {check.range = [0.1, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.rsqrt %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @reciprocal_f16(%x: tensor<7x83xf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.reciprocal %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @sin_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.sin %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @cos_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.cos %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @tanh_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.tanh %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @erf_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.erf %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @sigmoid_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.sigmoid %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @silu_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.silu %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @gelu_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.gelu %x : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @gelu_tanh_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.gelu %x approximate tanh : tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @add_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.add %x, %y : tensor<7x83xf16>, tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @sub_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.sub %x, %y : tensor<7x83xf16>, tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @mul_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.mul %x, %y : tensor<7x83xf16>, tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @div_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.div %x, %y : tensor<7x83xf16>, tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @max_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.max %x, %y : tensor<7x83xf16>, tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @min_f16(%x: tensor<7x83xf16> {check.range = [-4.0, 4.0]}, %y: tensor<7x83xf16> {check.range = [0.5, 4.0]}) -> tensor<7x83xf16> {
  %r = nn.min %x, %y : tensor<7x83xf16>, tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @compare_f16(%x: tensor<7x83xf16>, %y: tensor<7x83xf16>) -> (tensor<7x83xi1>, tensor<7x83xi1>) {
  %a = nn.compare lt %x, %y : tensor<7x83xf16>, tensor<7x83xf16>
  %b = nn.compare eq %x, %x : tensor<7x83xf16>, tensor<7x83xf16>
  return %a, %b : tensor<7x83xi1>, tensor<7x83xi1>
}
func.func @select_f16(%c: tensor<7x83xi1>, %x: tensor<7x83xf16>, %y: tensor<7x83xf16>) -> tensor<7x83xf16> {
  %r = nn.select %c, %x, %y : tensor<7x83xi1>, tensor<7x83xf16>, tensor<7x83xf16>
  return %r : tensor<7x83xf16>
}
func.func @constants_f16(%x: tensor<7x83xf16>) -> (tensor<7x83xf16>, tensor<7x83xf16>) {
  %c = nn.constant 0.1 : tensor<7x83xf16>
  %i = nn.iota 1 : tensor<7x83xf16>
  %a = nn.mul %x, %c : tensor<7x83xf16>, tensor<7x83xf16>
  %b = nn.mul %x, %i : tensor<7x83xf16>, tensor<7x83xf16>
  return %a, %b : tensor<7x83xf16>, tensor<7x83xf16>
}
func.func @random_f16(%seed: tensor<i64> {check.values = dense<7> : tensor<i64>}, %step: tensor<i64> {check.values = dense<3> : tensor<i64>},
                     %offset: tensor<i64> {check.values = dense<1> : tensor<i64>}) -> (tensor<7x83xf16>, tensor<7x83xf16>) {
  %u = nn.random stream 5 seed %seed step %step offset %offset : tensor<7x83xf16> : tensor<i64>, tensor<i64>, tensor<i64>
  %n = nn.random normal stream 6 seed %seed step %step offset %offset : tensor<7x83xf16> : tensor<i64>, tensor<i64>, tensor<i64>
  return %u, %n : tensor<7x83xf16>, tensor<7x83xf16>
}
// The largest, infinite and subnormal numbers, and no number; to the last bit but one.
func.func @special_f16(%x: tensor<8xf16> {check.values = dense<[6.0e4, -6.0e4, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-6, -1.0e-6, -0.0]> : tensor<8xf32>})
    -> (tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>) attributes {check.kernel_tolerance = 0.0} {
  %twice = nn.add %x, %x : tensor<8xf16>, tensor<8xf16>
  %square = nn.square %x : tensor<8xf16>
  %half = nn.constant 0.5 : tensor<8xf16>
  %halved = nn.mul %x, %half : tensor<8xf16>, tensor<8xf16>
  %inverse = nn.reciprocal %x : tensor<8xf16>
  %relu = nn.relu %x : tensor<8xf16>
  return %twice, %square, %halved, %inverse, %relu : tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>
}
func.func @f32_to_f16(%x: tensor<7x83xf32> {check.range = [-300.0, 300.0]}) -> tensor<7x83xf16> {
  %r = nn.convert %x to f16 : tensor<7x83xf32>
  return %r : tensor<7x83xf16>
}
func.func @f16_to_f32(%x: tensor<7x83xf16> {check.range = [-300.0, 300.0]}) -> tensor<7x83xf32> {
  %r = nn.convert %x to f32 : tensor<7x83xf16>
  return %r : tensor<7x83xf32>
}
func.func @f64_to_f16(%x: tensor<7x83xf64> {check.range = [-300.0, 300.0]}) -> tensor<7x83xf16> {
  %r = nn.convert %x to f16 : tensor<7x83xf64>
  return %r : tensor<7x83xf16>
}
func.func @f16_to_f64(%x: tensor<7x83xf16> {check.range = [-300.0, 300.0]}) -> tensor<7x83xf64> {
  %r = nn.convert %x to f64 : tensor<7x83xf16>
  return %r : tensor<7x83xf64>
}
func.func @i32_to_f16(%x: tensor<7x83xi32> {check.integers = [-40000, 40000]}) -> tensor<7x83xf16> {
  %r = nn.convert %x to f16 : tensor<7x83xi32>
  return %r : tensor<7x83xf16>
}
func.func @f16_to_i32(%x: tensor<7x83xf16> {check.range = [-300.0, 300.0]}) -> tensor<7x83xi32> {
  %r = nn.convert %x to i32 : tensor<7x83xf16>
  return %r : tensor<7x83xi32>
}
func.func @i64_to_f16(%x: tensor<7x83xi64> {check.integers = [-40000, 40000]}) -> tensor<7x83xf16> {
  %r = nn.convert %x to f16 : tensor<7x83xi64>
  return %r : tensor<7x83xf16>
}
func.func @f16_to_i64(%x: tensor<7x83xf16> {check.range = [-300.0, 300.0]}) -> tensor<7x83xi64> {
  %r = nn.convert %x to i64 : tensor<7x83xf16>
  return %r : tensor<7x83xi64>
}
func.func @f16_to_bf16(%x: tensor<7x83xf16> {check.range = [-300.0, 300.0]}) -> tensor<7x83xbf16> {
  %r = nn.convert %x to bf16 : tensor<7x83xf16>
  return %r : tensor<7x83xbf16>
}
func.func @i1_to_f16(%x: tensor<7x83xi1>) -> tensor<7x83xf16> {
  %r = nn.convert %x to f16 : tensor<7x83xi1>
  return %r : tensor<7x83xf16>
}
