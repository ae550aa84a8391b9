// RUN: trainc-check %s --kernels --bound=2e-6

// Ops of bf16 and f16 at the ends of their ranges: the largest numbers, subnormal ones, infinities and NaN.

// --- Elementwise ---
// Kernels reduce arguments of sine and cosine up to 1e5.

func.func @f16_of_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, 65504.0, 65536.0, -0.0, 1.0, 88.5, 6.0e-8, 2.9e-8, 3.1e-5, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.convert %x to f16 : tensor<17xbf16>
  return %r : tensor<17xf16>
}
func.func @bf16_of_f16(%x: tensor<9xf16> {check.values = dense<[65504.0, -65504.0, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, 1.001, -0.0, 1.00390625]> : tensor<9xf32>}) -> tensor<9xbf16> {
  %r = nn.convert %x to bf16 : tensor<9xf16>
  return %r : tensor<9xbf16>
}
func.func @neg_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.neg %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @abs_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.abs %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @square_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.square %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @relu_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.relu %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @exp_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.exp %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @log_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.log %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @log1p_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.log1p %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @softplus_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.softplus %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @log_sigmoid_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.log_sigmoid %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @sqrt_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.sqrt %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @rsqrt_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.rsqrt %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @reciprocal_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.reciprocal %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @tanh_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.tanh %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @gelu_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.gelu %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @silu_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.silu %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @sigmoid_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.sigmoid %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @sin_bf16(%x: tensor<17xbf16> {check.values = dense<[9.0e4, -9.0e4, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e4, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.sin %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @cos_bf16(%x: tensor<17xbf16> {check.values = dense<[9.0e4, -9.0e4, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e4, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17xbf16> {
  %r = nn.cos %x : tensor<17xbf16>
  return %r : tensor<17xbf16>
}
func.func @add_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17x17xbf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xbf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xbf16>
  %r = nn.add %a, %b : tensor<17x17xbf16>, tensor<17x17xbf16>
  return %r : tensor<17x17xbf16>
}
func.func @sub_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17x17xbf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xbf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xbf16>
  %r = nn.sub %a, %b : tensor<17x17xbf16>, tensor<17x17xbf16>
  return %r : tensor<17x17xbf16>
}
func.func @mul_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17x17xbf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xbf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xbf16>
  %r = nn.mul %a, %b : tensor<17x17xbf16>, tensor<17x17xbf16>
  return %r : tensor<17x17xbf16>
}
func.func @div_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17x17xbf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xbf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xbf16>
  %r = nn.div %a, %b : tensor<17x17xbf16>, tensor<17x17xbf16>
  return %r : tensor<17x17xbf16>
}
func.func @max_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17x17xbf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xbf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xbf16>
  %r = nn.max %a, %b : tensor<17x17xbf16>, tensor<17x17xbf16>
  return %r : tensor<17x17xbf16>
}
func.func @min_bf16(%x: tensor<17xbf16> {check.values = dense<[3.0e38, -3.0e38, 0x7F800000, 0xFF800000, 0x7FC00000, 1.0e-39, -1.0e-39, 0.0, -0.0, 1.0, 88.5, -88.5, 1.0e-20, 1.0e20, 9.2e-41, 3.0, -17.0]> : tensor<17xf32>}) -> tensor<17x17xbf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xbf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xbf16>
  %r = nn.min %a, %b : tensor<17x17xbf16>, tensor<17x17xbf16>
  return %r : tensor<17x17xbf16>
}
func.func @neg_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.neg %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @abs_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.abs %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @square_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.square %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @relu_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.relu %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @exp_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.exp %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @log_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.log %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @log1p_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.log1p %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @softplus_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.softplus %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @log_sigmoid_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.log_sigmoid %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @sqrt_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.sqrt %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @rsqrt_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.rsqrt %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @reciprocal_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.reciprocal %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @tanh_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.tanh %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @gelu_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.gelu %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @silu_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.silu %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @sigmoid_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.sigmoid %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @sin_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.sin %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @cos_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17xf16> {
  %r = nn.cos %x : tensor<17xf16>
  return %r : tensor<17xf16>
}
func.func @add_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17x17xf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xf16>
  %r = nn.add %a, %b : tensor<17x17xf16>, tensor<17x17xf16>
  return %r : tensor<17x17xf16>
}
func.func @sub_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17x17xf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xf16>
  %r = nn.sub %a, %b : tensor<17x17xf16>, tensor<17x17xf16>
  return %r : tensor<17x17xf16>
}
func.func @mul_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17x17xf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xf16>
  %r = nn.mul %a, %b : tensor<17x17xf16>, tensor<17x17xf16>
  return %r : tensor<17x17xf16>
}
func.func @div_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17x17xf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xf16>
  %r = nn.div %a, %b : tensor<17x17xf16>, tensor<17x17xf16>
  return %r : tensor<17x17xf16>
}
func.func @max_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17x17xf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xf16>
  %r = nn.max %a, %b : tensor<17x17xf16>, tensor<17x17xf16>
  return %r : tensor<17x17xf16>
}
func.func @min_f16(%x: tensor<17xf16> {check.values = dense<[6.55e4, -6.55e4, 0x7F800000, 0xFF800000, 0x7FC00000, 6.0e-8, -6.0e-8, 0.0, -0.0, 1.0, 11.0, -17.0, 1.0e-4, 3.0e-5, 300.0, 3.0, -0.1]> : tensor<17xf32>}) -> tensor<17x17xf16> {
  %a = nn.broadcast %x to [17, 17] : tensor<17xf16>
  %b = nn.transpose %a by [1, 0] : tensor<17x17xf16>
  %r = nn.min %a, %b : tensor<17x17xf16>, tensor<17x17xf16>
  return %r : tensor<17x17xf16>
}

// --- Rows ---
// Squares of huge bf16 numbers must fit f32, which kernels compute in: these are below 1e18.

func.func @rows_huge_bf16(%x: tensor<7x83xbf16> {check.range = [1.0e17, 1.0e18]}) -> (tensor<7x83xf32>, tensor<7xbf16>, tensor<83xbf16>, tensor<7xbf16>, tensor<7xf32>) {
  %wide = nn.convert %x to f32 : tensor<7x83xbf16>
  %softmax = nn.softmax %wide : tensor<7x83xf32>
  %sum = nn.reduce sum %x over [1] : tensor<7x83xbf16>
  %columns = nn.reduce sum %x over [0] : tensor<7x83xbf16>
  %max = nn.reduce max %x over [1] : tensor<7x83xbf16>
  %sums = nn.reduce sum %x over [1] to f32 : tensor<7x83xbf16>
  return %softmax, %sum, %columns, %max, %sums : tensor<7x83xf32>, tensor<7xbf16>, tensor<83xbf16>, tensor<7xbf16>, tensor<7xf32>
}
func.func @norm_huge_bf16(%x: tensor<7x83xbf16> {check.range = [1.0e17, 1.0e18]}) -> (tensor<7x83xbf16>, tensor<7xf32>) {
  %wide = nn.convert %x to f32 : tensor<7x83xbf16>
  %n, %rstd = nn.rms_standardize %wide eps 1.0e-5 : tensor<7x83xf32>
  %r = nn.convert %n to bf16 : tensor<7x83xf32>
  return %r, %rstd : tensor<7x83xbf16>, tensor<7xf32>
}
func.func @rows_subnormal_bf16(%x: tensor<7x83xbf16> {check.range = [1.0e-40, 1.0e-38]}) -> (tensor<7x83xf32>, tensor<7xbf16>, tensor<83xbf16>, tensor<7xbf16>, tensor<7xf32>) {
  %wide = nn.convert %x to f32 : tensor<7x83xbf16>
  %softmax = nn.softmax %wide : tensor<7x83xf32>
  %sum = nn.reduce sum %x over [1] : tensor<7x83xbf16>
  %columns = nn.reduce sum %x over [0] : tensor<7x83xbf16>
  %max = nn.reduce max %x over [1] : tensor<7x83xbf16>
  %sums = nn.reduce sum %x over [1] to f32 : tensor<7x83xbf16>
  return %softmax, %sum, %columns, %max, %sums : tensor<7x83xf32>, tensor<7xbf16>, tensor<83xbf16>, tensor<7xbf16>, tensor<7xf32>
}
func.func @norm_subnormal_bf16(%x: tensor<7x83xbf16> {check.range = [1.0e-40, 1.0e-38]}) -> (tensor<7x83xbf16>, tensor<7xf32>) {
  %wide = nn.convert %x to f32 : tensor<7x83xbf16>
  %n, %rstd = nn.rms_standardize %wide eps 1.0e-5 : tensor<7x83xf32>
  %r = nn.convert %n to bf16 : tensor<7x83xf32>
  return %r, %rstd : tensor<7x83xbf16>, tensor<7xf32>
}
func.func @rows_nan_bf16(%x: tensor<3x3xbf16> {check.values = dense<[[1.0, -2.0, 0.5], [0x7FC00000, 1.0, 2.0], [0.25, -1.0, 4.0]]> : tensor<3x3xf32>}, %ids: tensor<3xi32> {check.integers = [0, 3]}) -> (tensor<3x3xf32>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xf32>, tensor<3x3xbf16>, tensor<3x3xf32>) {
  %wide = nn.convert %x to f32 : tensor<3x3xbf16>
  %softmax = nn.softmax %wide : tensor<3x3xf32>
  %sum = nn.reduce sum %x over [1] : tensor<3x3xbf16>
  %max = nn.reduce max %x over [0] : tensor<3x3xbf16>
  %mean = nn.reduce mean %wide over [1] : tensor<3x3xf32>
  %rows = nn.gather %x at %ids : tensor<3x3xbf16>, tensor<3xi32>
  %zero = nn.constant 0.0 : tensor<3x3xf32>
  %added = nn.scatter_add %x into %zero at %ids : tensor<3x3xbf16>, tensor<3x3xf32>, tensor<3xi32>
  return %softmax, %sum, %max, %mean, %rows, %added : tensor<3x3xf32>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xf32>, tensor<3x3xbf16>, tensor<3x3xf32>
}
func.func @rows_infinite_bf16(%x: tensor<3x3xbf16> {check.values = dense<[[1.0, -2.0, 0.5], [0x7F800000, 1.0, 2.0], [0.25, -1.0, 4.0]]> : tensor<3x3xf32>}, %ids: tensor<3xi32> {check.integers = [0, 3]}) -> (tensor<3x3xf32>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xf32>, tensor<3x3xbf16>, tensor<3x3xf32>) {
  %wide = nn.convert %x to f32 : tensor<3x3xbf16>
  %softmax = nn.softmax %wide : tensor<3x3xf32>
  %sum = nn.reduce sum %x over [1] : tensor<3x3xbf16>
  %max = nn.reduce max %x over [0] : tensor<3x3xbf16>
  %mean = nn.reduce mean %wide over [1] : tensor<3x3xf32>
  %rows = nn.gather %x at %ids : tensor<3x3xbf16>, tensor<3xi32>
  %zero = nn.constant 0.0 : tensor<3x3xf32>
  %added = nn.scatter_add %x into %zero at %ids : tensor<3x3xbf16>, tensor<3x3xf32>, tensor<3xi32>
  return %softmax, %sum, %max, %mean, %rows, %added : tensor<3x3xf32>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xf32>, tensor<3x3xbf16>, tensor<3x3xf32>
}
func.func @rows_minus_infinite_bf16(%x: tensor<3x3xbf16> {check.values = dense<[[1.0, -2.0, 0.5], [0xFF800000, 1.0, 2.0], [0.25, -1.0, 4.0]]> : tensor<3x3xf32>}, %ids: tensor<3xi32> {check.integers = [0, 3]}) -> (tensor<3x3xf32>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xf32>, tensor<3x3xbf16>, tensor<3x3xf32>) {
  %wide = nn.convert %x to f32 : tensor<3x3xbf16>
  %softmax = nn.softmax %wide : tensor<3x3xf32>
  %sum = nn.reduce sum %x over [1] : tensor<3x3xbf16>
  %max = nn.reduce max %x over [0] : tensor<3x3xbf16>
  %mean = nn.reduce mean %wide over [1] : tensor<3x3xf32>
  %rows = nn.gather %x at %ids : tensor<3x3xbf16>, tensor<3xi32>
  %zero = nn.constant 0.0 : tensor<3x3xf32>
  %added = nn.scatter_add %x into %zero at %ids : tensor<3x3xbf16>, tensor<3x3xf32>, tensor<3xi32>
  return %softmax, %sum, %max, %mean, %rows, %added : tensor<3x3xf32>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xf32>, tensor<3x3xbf16>, tensor<3x3xf32>
}
func.func @rows_huge_f16(%x: tensor<7x83xf16> {check.range = [3.0e4, 6.0e4]}) -> (tensor<7x83xf32>, tensor<7xf16>, tensor<83xf16>, tensor<7xf16>, tensor<7xf32>) {
  %wide = nn.convert %x to f32 : tensor<7x83xf16>
  %softmax = nn.softmax %wide : tensor<7x83xf32>
  %sum = nn.reduce sum %x over [1] : tensor<7x83xf16>
  %columns = nn.reduce sum %x over [0] : tensor<7x83xf16>
  %max = nn.reduce max %x over [1] : tensor<7x83xf16>
  %sums = nn.reduce sum %x over [1] to f32 : tensor<7x83xf16>
  return %softmax, %sum, %columns, %max, %sums : tensor<7x83xf32>, tensor<7xf16>, tensor<83xf16>, tensor<7xf16>, tensor<7xf32>
}
func.func @norm_huge_f16(%x: tensor<7x83xf16> {check.range = [3.0e4, 6.0e4]}) -> (tensor<7x83xf16>, tensor<7xf32>) {
  %wide = nn.convert %x to f32 : tensor<7x83xf16>
  %n, %rstd = nn.rms_standardize %wide eps 1.0e-5 : tensor<7x83xf32>
  %r = nn.convert %n to f16 : tensor<7x83xf32>
  return %r, %rstd : tensor<7x83xf16>, tensor<7xf32>
}
func.func @rows_subnormal_f16(%x: tensor<7x83xf16> {check.range = [1.0e-7, 6.0e-5]}) -> (tensor<7x83xf32>, tensor<7xf16>, tensor<83xf16>, tensor<7xf16>, tensor<7xf32>) {
  %wide = nn.convert %x to f32 : tensor<7x83xf16>
  %softmax = nn.softmax %wide : tensor<7x83xf32>
  %sum = nn.reduce sum %x over [1] : tensor<7x83xf16>
  %columns = nn.reduce sum %x over [0] : tensor<7x83xf16>
  %max = nn.reduce max %x over [1] : tensor<7x83xf16>
  %sums = nn.reduce sum %x over [1] to f32 : tensor<7x83xf16>
  return %softmax, %sum, %columns, %max, %sums : tensor<7x83xf32>, tensor<7xf16>, tensor<83xf16>, tensor<7xf16>, tensor<7xf32>
}
func.func @norm_subnormal_f16(%x: tensor<7x83xf16> {check.range = [1.0e-7, 6.0e-5]}) -> (tensor<7x83xf16>, tensor<7xf32>) {
  %wide = nn.convert %x to f32 : tensor<7x83xf16>
  %n, %rstd = nn.rms_standardize %wide eps 1.0e-5 : tensor<7x83xf32>
  %r = nn.convert %n to f16 : tensor<7x83xf32>
  return %r, %rstd : tensor<7x83xf16>, tensor<7xf32>
}
func.func @rows_nan_f16(%x: tensor<3x3xf16> {check.values = dense<[[1.0, -2.0, 0.5], [0x7FC00000, 1.0, 2.0], [0.25, -1.0, 4.0]]> : tensor<3x3xf32>}, %ids: tensor<3xi32> {check.integers = [0, 3]}) -> (tensor<3x3xf32>, tensor<3xf16>, tensor<3xf16>, tensor<3xf32>, tensor<3x3xf16>, tensor<3x3xf32>) {
  %wide = nn.convert %x to f32 : tensor<3x3xf16>
  %softmax = nn.softmax %wide : tensor<3x3xf32>
  %sum = nn.reduce sum %x over [1] : tensor<3x3xf16>
  %max = nn.reduce max %x over [0] : tensor<3x3xf16>
  %mean = nn.reduce mean %wide over [1] : tensor<3x3xf32>
  %rows = nn.gather %x at %ids : tensor<3x3xf16>, tensor<3xi32>
  %zero = nn.constant 0.0 : tensor<3x3xf32>
  %added = nn.scatter_add %x into %zero at %ids : tensor<3x3xf16>, tensor<3x3xf32>, tensor<3xi32>
  return %softmax, %sum, %max, %mean, %rows, %added : tensor<3x3xf32>, tensor<3xf16>, tensor<3xf16>, tensor<3xf32>, tensor<3x3xf16>, tensor<3x3xf32>
}
func.func @rows_infinite_f16(%x: tensor<3x3xf16> {check.values = dense<[[1.0, -2.0, 0.5], [0x7F800000, 1.0, 2.0], [0.25, -1.0, 4.0]]> : tensor<3x3xf32>}, %ids: tensor<3xi32> {check.integers = [0, 3]}) -> (tensor<3x3xf32>, tensor<3xf16>, tensor<3xf16>, tensor<3xf32>, tensor<3x3xf16>, tensor<3x3xf32>) {
  %wide = nn.convert %x to f32 : tensor<3x3xf16>
  %softmax = nn.softmax %wide : tensor<3x3xf32>
  %sum = nn.reduce sum %x over [1] : tensor<3x3xf16>
  %max = nn.reduce max %x over [0] : tensor<3x3xf16>
  %mean = nn.reduce mean %wide over [1] : tensor<3x3xf32>
  %rows = nn.gather %x at %ids : tensor<3x3xf16>, tensor<3xi32>
  %zero = nn.constant 0.0 : tensor<3x3xf32>
  %added = nn.scatter_add %x into %zero at %ids : tensor<3x3xf16>, tensor<3x3xf32>, tensor<3xi32>
  return %softmax, %sum, %max, %mean, %rows, %added : tensor<3x3xf32>, tensor<3xf16>, tensor<3xf16>, tensor<3xf32>, tensor<3x3xf16>, tensor<3x3xf32>
}
func.func @rows_minus_infinite_f16(%x: tensor<3x3xf16> {check.values = dense<[[1.0, -2.0, 0.5], [0xFF800000, 1.0, 2.0], [0.25, -1.0, 4.0]]> : tensor<3x3xf32>}, %ids: tensor<3xi32> {check.integers = [0, 3]}) -> (tensor<3x3xf32>, tensor<3xf16>, tensor<3xf16>, tensor<3xf32>, tensor<3x3xf16>, tensor<3x3xf32>) {
  %wide = nn.convert %x to f32 : tensor<3x3xf16>
  %softmax = nn.softmax %wide : tensor<3x3xf32>
  %sum = nn.reduce sum %x over [1] : tensor<3x3xf16>
  %max = nn.reduce max %x over [0] : tensor<3x3xf16>
  %mean = nn.reduce mean %wide over [1] : tensor<3x3xf32>
  %rows = nn.gather %x at %ids : tensor<3x3xf16>, tensor<3xi32>
  %zero = nn.constant 0.0 : tensor<3x3xf32>
  %added = nn.scatter_add %x into %zero at %ids : tensor<3x3xf16>, tensor<3x3xf32>, tensor<3xi32>
  return %softmax, %sum, %max, %mean, %rows, %added : tensor<3x3xf32>, tensor<3xf16>, tensor<3xf16>, tensor<3xf32>, tensor<3x3xf16>, tensor<3x3xf32>
}

// --- Attention ---
// Kernels add up values before they divide by the sum of weights: 19 of them must fit f32.

func.func @attention_huge_bf16(%q: tensor<2x19x12xbf16>, %k: tensor<2x19x12xbf16>, %v: tensor<2x19x12xbf16> {check.range = [1.0e35, 1.0e36]}) -> (tensor<2x19x12xbf16>, tensor<2x3x19xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal : tensor<2x19x12xbf16>, tensor<2x19x12xbf16>, tensor<2x19x12xbf16>
  return %out, %lse : tensor<2x19x12xbf16>, tensor<2x3x19xf32>
}
func.func @attention_subnormal_bf16(%q: tensor<2x19x12xbf16>, %k: tensor<2x19x12xbf16>, %v: tensor<2x19x12xbf16> {check.range = [1.0e-40, 1.0e-38]}) -> (tensor<2x19x12xbf16>, tensor<2x3x19xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal : tensor<2x19x12xbf16>, tensor<2x19x12xbf16>, tensor<2x19x12xbf16>
  return %out, %lse : tensor<2x19x12xbf16>, tensor<2x3x19xf32>
}
func.func @attention_nan_bf16(%q: tensor<1x3x4xbf16>, %k: tensor<1x3x4xbf16>,
    %v: tensor<1x3x4xbf16> {check.values = dense<[[[1.0, 2.0, 3.0, 4.0], [1.0, 0x7FC00000, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]]> : tensor<1x3x4xf32>}) -> (tensor<1x3x4xbf16>, tensor<1x1x3xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 1 causal : tensor<1x3x4xbf16>, tensor<1x3x4xbf16>, tensor<1x3x4xbf16>
  return %out, %lse : tensor<1x3x4xbf16>, tensor<1x1x3xf32>
}
func.func @attention_infinite_bf16(%q: tensor<1x3x4xbf16>, %k: tensor<1x3x4xbf16>,
    %v: tensor<1x3x4xbf16> {check.values = dense<[[[1.0, 2.0, 3.0, 4.0], [1.0, 0x7F800000, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]]> : tensor<1x3x4xf32>}) -> (tensor<1x3x4xbf16>, tensor<1x1x3xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 1 causal : tensor<1x3x4xbf16>, tensor<1x3x4xbf16>, tensor<1x3x4xbf16>
  return %out, %lse : tensor<1x3x4xbf16>, tensor<1x1x3xf32>
}
func.func @attention_huge_f16(%q: tensor<2x19x12xf16>, %k: tensor<2x19x12xf16>, %v: tensor<2x19x12xf16> {check.range = [3.0e4, 6.0e4]}) -> (tensor<2x19x12xf16>, tensor<2x3x19xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal : tensor<2x19x12xf16>, tensor<2x19x12xf16>, tensor<2x19x12xf16>
  return %out, %lse : tensor<2x19x12xf16>, tensor<2x3x19xf32>
}
func.func @attention_subnormal_f16(%q: tensor<2x19x12xf16>, %k: tensor<2x19x12xf16>, %v: tensor<2x19x12xf16> {check.range = [1.0e-7, 6.0e-5]}) -> (tensor<2x19x12xf16>, tensor<2x3x19xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal : tensor<2x19x12xf16>, tensor<2x19x12xf16>, tensor<2x19x12xf16>
  return %out, %lse : tensor<2x19x12xf16>, tensor<2x3x19xf32>
}
func.func @attention_nan_f16(%q: tensor<1x3x4xf16>, %k: tensor<1x3x4xf16>,
    %v: tensor<1x3x4xf16> {check.values = dense<[[[1.0, 2.0, 3.0, 4.0], [1.0, 0x7FC00000, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]]> : tensor<1x3x4xf32>}) -> (tensor<1x3x4xf16>, tensor<1x1x3xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 1 causal : tensor<1x3x4xf16>, tensor<1x3x4xf16>, tensor<1x3x4xf16>
  return %out, %lse : tensor<1x3x4xf16>, tensor<1x1x3xf32>
}
func.func @attention_infinite_f16(%q: tensor<1x3x4xf16>, %k: tensor<1x3x4xf16>,
    %v: tensor<1x3x4xf16> {check.values = dense<[[[1.0, 2.0, 3.0, 4.0], [1.0, 0x7F800000, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]]> : tensor<1x3x4xf32>}) -> (tensor<1x3x4xf16>, tensor<1x1x3xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 1 causal : tensor<1x3x4xf16>, tensor<1x3x4xf16>, tensor<1x3x4xf16>
  return %out, %lse : tensor<1x3x4xf16>, tensor<1x1x3xf32>
}
