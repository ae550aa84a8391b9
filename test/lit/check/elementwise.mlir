// RUN: trainc-check %s --reference --gradients --kernels --bound=2e-7

// Gradients of one-operand functions at ordinary numbers; values are in pytorch-unary.mlir.

func.func @neg(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.neg %x : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
func.func @abs(%x: tensor<7xf32>) -> tensor<7xf32> {
  %r = nn.abs %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @exp(%x: tensor<7xf32> {check.range = [-2.0, 2.0]}) -> tensor<7xf32> {
  %r = nn.exp %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @log(%x: tensor<7xf32> {check.range = [0.5, 4.0]}) -> tensor<7xf32> {
  %r = nn.log %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @log1p(%x: tensor<7xf32> {check.range = [-0.5, 4.0]}) -> tensor<7xf32> {
  %r = nn.log1p %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @log1p_small(%x: tensor<7xf32> {check.range = [-1.0e-5, 1.0e-5]}) -> tensor<7xf32> {
  %r = nn.log1p %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @softplus(%x: tensor<7xf32> {check.range = [-8.0, 8.0]}) -> tensor<7xf32> {
  %r = nn.softplus %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @log_sigmoid(%x: tensor<7xf32> {check.range = [-8.0, 8.0]}) -> tensor<7xf32> {
  %r = nn.log_sigmoid %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @sqrt(%x: tensor<7xf32> {check.range = [0.5, 4.0]}) -> tensor<7xf32> {
  %r = nn.sqrt %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @rsqrt(%x: tensor<7xf32> {check.range = [0.5, 4.0]}) -> tensor<7xf32> {
  %r = nn.rsqrt %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @reciprocal(%x: tensor<7xf32> {check.range = [-4.0, -0.5]}) -> tensor<7xf32> {
  %r = nn.reciprocal %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @sin(%x: tensor<7xf32> {check.range = [-4.0, 4.0]}) -> tensor<7xf32> {
  %r = nn.sin %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @cos(%x: tensor<7xf32> {check.range = [-4.0, 4.0]}) -> tensor<7xf32> {
  %r = nn.cos %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @tanh(%x: tensor<7xf32> {check.range = [-2.0, 2.0]}) -> tensor<7xf32> {
  %r = nn.tanh %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @erf(%x: tensor<7xf32> {check.range = [-2.0, 2.0]}) -> tensor<7xf32> {
  %r = nn.erf %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @sigmoid(%x: tensor<7xf32> {check.range = [-4.0, 4.0]}) -> tensor<7xf32> {
  %r = nn.sigmoid %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @relu(%x: tensor<7xf32>) -> tensor<7xf32> {
  %r = nn.relu %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @silu(%x: tensor<7xf32> {check.range = [-4.0, 4.0]}) -> tensor<7xf32> {
  %r = nn.silu %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @square(%x: tensor<7xf32>) -> tensor<7xf32> {
  %r = nn.square %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @gelu(%x: tensor<7xf32> {check.range = [-3.0, 3.0]}) -> tensor<7xf32> {
  %r = nn.gelu %x : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @gelu_tanh(%x: tensor<7xf32> {check.range = [-3.0, 3.0]}) -> tensor<7xf32> {
  %r = nn.gelu %x approximate tanh : tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @gelu_grad(%g: tensor<7xf32> {check.range = [-2.0, 2.0]}, %x: tensor<7xf32> {check.range = [-3.0, 3.0]}) -> tensor<7xf32> {
  %r = nn.gelu_grad %g at %x : tensor<7xf32>, tensor<7xf32>
  return %r : tensor<7xf32>
}
func.func @gelu_grad_tanh(%g: tensor<7xf32> {check.range = [-2.0, 2.0]}, %x: tensor<7xf32> {check.range = [-3.0, 3.0]}) -> tensor<7xf32> attributes {check.kernel_tolerance = 5.0e-7} {
  %r = nn.gelu_grad %g at %x approximate tanh : tensor<7xf32>, tensor<7xf32>
  return %r : tensor<7xf32>
}

// Two and three operands.

func.func @add(%x: tensor<3xf32> {check.values = dense<[1.5, -2.0, 0.0]> : tensor<3xf32>},
               %y: tensor<3xf32> {check.values = dense<[0.25, 2.0, -3.0]> : tensor<3xf32>})
    -> (tensor<3xf32> {check.expect = dense<[1.75, 0.0, -3.0]> : tensor<3xf32>}) {
  %r = nn.add %x, %y : tensor<3xf32>, tensor<3xf32>
  return %r : tensor<3xf32>
}
func.func @sub(%x: tensor<3xf32> {check.values = dense<[1.5, -2.0, 0.0]> : tensor<3xf32>},
               %y: tensor<3xf32> {check.values = dense<[0.25, 2.0, -3.0]> : tensor<3xf32>})
    -> (tensor<3xf32> {check.expect = dense<[1.25, -4.0, 3.0]> : tensor<3xf32>}) {
  %r = nn.sub %x, %y : tensor<3xf32>, tensor<3xf32>
  return %r : tensor<3xf32>
}
func.func @mul(%x: tensor<3xf32> {check.values = dense<[1.5, -2.0, 0.0]> : tensor<3xf32>},
               %y: tensor<3xf32> {check.values = dense<[0.25, 2.0, -3.0]> : tensor<3xf32>})
    -> (tensor<3xf32> {check.expect = dense<[0.375, -4.0, 0.0]> : tensor<3xf32>}) {
  %r = nn.mul %x, %y : tensor<3xf32>, tensor<3xf32>
  return %r : tensor<3xf32>
}
func.func @div(%x: tensor<3xf32> {check.values = dense<[1.5, -2.0, 0.0]> : tensor<3xf32>},
               %y: tensor<3xf32> {check.values = dense<[0.25, 2.0, -3.0]> : tensor<3xf32>})
    -> (tensor<3xf32> {check.expect = dense<[6.0, -1.0, 0.0]> : tensor<3xf32>}) {
  %r = nn.div %x, %y : tensor<3xf32>, tensor<3xf32>
  return %r : tensor<3xf32>
}
func.func @max(%x: tensor<3xf32> {check.values = dense<[1.5, -2.0, 0.0]> : tensor<3xf32>},
               %y: tensor<3xf32> {check.values = dense<[0.25, 2.0, -3.0]> : tensor<3xf32>})
    -> (tensor<3xf32> {check.expect = dense<[1.5, 2.0, 0.0]> : tensor<3xf32>}) {
  %r = nn.max %x, %y : tensor<3xf32>, tensor<3xf32>
  return %r : tensor<3xf32>
}
func.func @min(%x: tensor<3xf32> {check.values = dense<[1.5, -2.0, 0.0]> : tensor<3xf32>},
               %y: tensor<3xf32> {check.values = dense<[0.25, 2.0, -3.0]> : tensor<3xf32>})
    -> (tensor<3xf32> {check.expect = dense<[0.25, -2.0, -3.0]> : tensor<3xf32>}) {
  %r = nn.min %x, %y : tensor<3xf32>, tensor<3xf32>
  return %r : tensor<3xf32>
}
func.func @max_keeps_nan(%x: tensor<2xf32> {check.values = dense<[0x7FC00000, 1.0]> : tensor<2xf32>},
                         %y: tensor<2xf32> {check.values = dense<[1.0, 0x7FC00000]> : tensor<2xf32>})
    -> (tensor<2xf32> {check.expect = dense<0x7FC00000> : tensor<2xf32>})
    attributes {check.no_gradients = "NaN"} {
  %r = nn.max %x, %y : tensor<2xf32>, tensor<2xf32>
  return %r : tensor<2xf32>
}
func.func @one_value_twice(%x: tensor<5xf32>) -> tensor<5xf32> {
  %r = nn.mul %x, %x : tensor<5xf32>, tensor<5xf32>
  %s = nn.add %r, %x : tensor<5xf32>, tensor<5xf32>
  return %s : tensor<5xf32>
}
func.func @select(%c: tensor<4xi1> {check.values = dense<[true, false, true, false]> : tensor<4xi1>},
                  %x: tensor<4xf32> {check.values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>},
                  %y: tensor<4xf32> {check.values = dense<[-1.0, -2.0, -3.0, -4.0]> : tensor<4xf32>})
    -> (tensor<4xf32> {check.expect = dense<[1.0, -2.0, 3.0, -4.0]> : tensor<4xf32>}) {
  %r = nn.select %c, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @widened(%x: tensor<4xf32>) -> tensor<4xf64> {
  %s = nn.square %x : tensor<4xf32>
  %r = nn.convert %s to f64 : tensor<4xf32>
  return %r : tensor<4xf64>
}

// Integers, comparisons and conversions, which have no gradient.

func.func @integers(%x: tensor<3xi32> {check.values = dense<[7, -7, 2147483647]> : tensor<3xi32>},
                    %y: tensor<3xi32> {check.values = dense<[2, 2, 1]> : tensor<3xi32>})
    -> (tensor<3xi32> {check.expect = dense<[9, -5, -2147483648]> : tensor<3xi32>},
        tensor<3xi32> {check.expect = dense<[14, -14, 2147483647]> : tensor<3xi32>},
        tensor<3xi32> {check.expect = dense<[7, 2, 2147483647]> : tensor<3xi32>},
        tensor<3xi1> {check.expect = dense<[false, true, false]> : tensor<3xi1>}) {
  %sum = nn.add %x, %y : tensor<3xi32>, tensor<3xi32>
  %product = nn.mul %x, %y : tensor<3xi32>, tensor<3xi32>
  %larger = nn.max %x, %y : tensor<3xi32>, tensor<3xi32>
  %less = nn.compare lt %x, %y : tensor<3xi32>, tensor<3xi32>
  return %sum, %product, %larger, %less : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi1>
}
// Division has a result for every divisor, and lanes beyond the tensor's end do not trap.
func.func @integer_division(%x: tensor<7xi32> {check.values = dense<[7, -7, 7, -7, 5, -2147483648, 2147483647]> : tensor<7xi32>},
                            %y: tensor<7xi32> {check.values = dense<[2, 2, -2, 0, 7, -1, -1]> : tensor<7xi32>},
                            %a: tensor<3xi64> {check.values = dense<[-9223372036854775808, 9223372036854775807, 1]> : tensor<3xi64>},
                            %b: tensor<3xi64> {check.values = dense<[-1, 1000000000000, 0]> : tensor<3xi64>})
    -> (tensor<7xi32> {check.expect = dense<[3, -3, -3, 0, 0, -2147483648, -2147483647]> : tensor<7xi32>},
        tensor<3xi64> {check.expect = dense<[-9223372036854775808, 9223372, 0]> : tensor<3xi64>}) {
  %q = nn.div %x, %y : tensor<7xi32>, tensor<7xi32>
  %r = nn.div %a, %b : tensor<3xi64>, tensor<3xi64>
  return %q, %r : tensor<7xi32>, tensor<3xi64>
}
// Beyond the integers' range it is the nearest one.
func.func @convert_out_of_range(
    %x: tensor<7xf32> {check.values = dense<[1.5e9, 3.0e9, -3.0e9, 0x7F800000, 0xFF800000, 0x7FC00000, -0.9]> : tensor<7xf32>})
    -> (tensor<7xi32> {check.expect = dense<[1500000000, 2147483647, -2147483648, 2147483647, -2147483648, 0, 0]> : tensor<7xi32>},
        tensor<7xi64> {check.expect = dense<[1500000000, 3000000000, -3000000000, 9223372036854775807, -9223372036854775808, 0, 0]> : tensor<7xi64>}) {
  %i = nn.convert %x to i32 : tensor<7xf32>
  %l = nn.convert %x to i64 : tensor<7xf32>
  return %i, %l : tensor<7xi32>, tensor<7xi64>
}
func.func @compare(%x: tensor<4xf32> {check.values = dense<[1.0, 2.0, 3.0, 0x7FC00000]> : tensor<4xf32>},
                   %y: tensor<4xf32> {check.values = dense<2.0> : tensor<4xf32>})
    -> (tensor<4xi1> {check.expect = dense<[false, true, false, false]> : tensor<4xi1>},
        tensor<4xi1> {check.expect = dense<[true, false, true, true]> : tensor<4xi1>},
        tensor<4xi1> {check.expect = dense<[true, false, false, false]> : tensor<4xi1>},
        tensor<4xi1> {check.expect = dense<[true, true, false, false]> : tensor<4xi1>},
        tensor<4xi1> {check.expect = dense<[false, false, true, false]> : tensor<4xi1>},
        tensor<4xi1> {check.expect = dense<[false, true, true, false]> : tensor<4xi1>}) {
  %eq = nn.compare eq %x, %y : tensor<4xf32>, tensor<4xf32>
  %ne = nn.compare ne %x, %y : tensor<4xf32>, tensor<4xf32>
  %lt = nn.compare lt %x, %y : tensor<4xf32>, tensor<4xf32>
  %le = nn.compare le %x, %y : tensor<4xf32>, tensor<4xf32>
  %gt = nn.compare gt %x, %y : tensor<4xf32>, tensor<4xf32>
  %ge = nn.compare ge %x, %y : tensor<4xf32>, tensor<4xf32>
  return %eq, %ne, %lt, %le, %gt, %ge : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
func.func @logic(%x: tensor<4xi1> {check.values = dense<[true, true, false, false]> : tensor<4xi1>},
                 %y: tensor<4xi1> {check.values = dense<[true, false, true, false]> : tensor<4xi1>})
    -> (tensor<4xi1> {check.expect = dense<[true, false, false, false]> : tensor<4xi1>},
        tensor<4xi1> {check.expect = dense<[true, true, true, false]> : tensor<4xi1>},
        tensor<4xi1> {check.expect = dense<[false, false, true, true]> : tensor<4xi1>}) {
  %and = nn.and %x, %y : tensor<4xi1>, tensor<4xi1>
  %or = nn.or %x, %y : tensor<4xi1>, tensor<4xi1>
  %not = nn.not %x : tensor<4xi1>
  return %and, %or, %not : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
// Logic that fuses with comparisons of numbers, with tails in lanes.
func.func @logic_of_numbers(%x: tensor<37x19xf32>, %low: tensor<37x19xf32>) -> tensor<37x19xf32>
    attributes {check.no_gradients = "steps"} {
  %a = nn.constant -0.5 : tensor<37x19xf32>
  %b = nn.constant 0.5 : tensor<37x19xf32>
  %above = nn.compare ge %x, %a : tensor<37x19xf32>, tensor<37x19xf32>
  %beyond = nn.compare ge %x, %b : tensor<37x19xf32>, tensor<37x19xf32>
  %below = nn.not %beyond : tensor<37x19xi1>
  %within = nn.and %above, %below : tensor<37x19xi1>, tensor<37x19xi1>
  %less = nn.compare lt %low, %x : tensor<37x19xf32>, tensor<37x19xf32>
  %any = nn.or %within, %less : tensor<37x19xi1>, tensor<37x19xi1>
  %y = nn.select %any, %x, %low : tensor<37x19xi1>, tensor<37x19xf32>, tensor<37x19xf32>
  return %y : tensor<37x19xf32>
}
func.func @convert(%x: tensor<4xf64> {check.values = dense<[2.75, -2.75, 0.1, 16777217.0]> : tensor<4xf64>},
                   %c: tensor<2xi1> {check.values = dense<[true, false]> : tensor<2xi1>},
                   %n: tensor<2xi64> {check.values = dense<[4294967297, -3]> : tensor<2xi64>})
    -> (tensor<4xi32> {check.expect = dense<[2, -2, 0, 16777217]> : tensor<4xi32>},
        tensor<4xf32> {check.expect = dense<[2.75, -2.75, 0.1, 16777216.0]> : tensor<4xf32>},
        tensor<2xf32> {check.expect = dense<[1.0, 0.0]> : tensor<2xf32>},
        tensor<2xi32> {check.expect = dense<[1, -3]> : tensor<2xi32>})
    attributes {check.no_gradients = "rounding"} {
  %i = nn.convert %x to i32 : tensor<4xf64>
  %f = nn.convert %x to f32 : tensor<4xf64>
  %one = nn.convert %c to f32 : tensor<2xi1>
  %low = nn.convert %n to i32 : tensor<2xi64>
  return %i, %f, %one, %low : tensor<4xi32>, tensor<4xf32>, tensor<2xf32>, tensor<2xi32>
}
func.func @constant() -> (tensor<2xf32> {check.expect = dense<0.1> : tensor<2xf64>}, tensor<i64> {check.expect = dense<-3> : tensor<i64>}) {
  %r = nn.constant 0.1 : tensor<2xf32>
  %i = nn.constant -3.0 : tensor<i64>
  return %r, %i : tensor<2xf32>, tensor<i64>
}
func.func @iota() -> (tensor<2x3xi32> {check.expect = dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>},
                      tensor<2x3xf32> {check.expect = dense<[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]> : tensor<2x3xf32>}) {
  %i = nn.iota 1 : tensor<2x3xi32>
  %f = nn.iota 0 : tensor<2x3xf32>
  return %i, %f : tensor<2x3xi32>, tensor<2x3xf32>
}
