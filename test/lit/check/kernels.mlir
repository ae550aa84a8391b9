// RUN: trainc-check %s --kernels --bound=2e-6

// Sizes that leave tails in lanes, tiles and blocks, and ops that fuse with their neighbours.

func.func @bias_gelu(%x: tensor<37x83xf32> {check.range = [-4.0, 4.0]}, %b: tensor<83xf32>) -> tensor<37x83xf32> {
  %c = nn.broadcast %b to [37, 83] : tensor<83xf32>
  %s = nn.add %x, %c : tensor<37x83xf32>, tensor<37x83xf32>
  %r = nn.gelu %s approximate tanh : tensor<37x83xf32>
  return %r : tensor<37x83xf32>
}
func.func @layer_norm(%x: tensor<5x7x130xf32>, %w: tensor<130xf32>, %b: tensor<130xf32>) -> (tensor<5x7x130xf32>, tensor<5x7xf32>) {
  %n, %rstd = nn.standardize %x eps 1.0e-5 : tensor<5x7x130xf32>
  %scale = nn.broadcast %w to [5, 7, 130] : tensor<130xf32>
  %shift = nn.broadcast %b to [5, 7, 130] : tensor<130xf32>
  %m = nn.mul %n, %scale : tensor<5x7x130xf32>, tensor<5x7x130xf32>
  %r = nn.add %m, %shift : tensor<5x7x130xf32>, tensor<5x7x130xf32>
  return %r, %rstd : tensor<5x7x130xf32>, tensor<5x7xf32>
}
func.func @scale_and_bias_gradients(%n: tensor<301x67xf32>, %g: tensor<301x67xf32>) -> (tensor<67xf32>, tensor<67xf32>)
    attributes {check.kernel_tolerance = 1.0e-5} {
  %p = nn.mul %n, %g : tensor<301x67xf32>, tensor<301x67xf32>
  %scale = nn.reduce sum %p over [0] : tensor<301x67xf32>
  %bias = nn.reduce sum %g over [0] : tensor<301x67xf32>
  return %scale, %bias : tensor<67xf32>, tensor<67xf32>
}
func.func @wide_softmax(%x: tensor<9x1003xf32> {check.range = [-10.0, 10.0]}) -> tensor<9x1003xf32> {
  %r = nn.softmax %x : tensor<9x1003xf32>
  return %r : tensor<9x1003xf32>
}
func.func @loss(%x: tensor<6x997xf32> {check.range = [-10.0, 10.0]}, %labels: tensor<6xi32> {check.integers = [-1, 998]}) -> tensor<f32> {
  %nll, %lse = nn.cross_entropy %x, %labels smoothing 0.1 : tensor<6x997xf32>, tensor<6xi32>
  %sum = nn.reduce sum %nll over [0] : tensor<6xf32>
  return %sum : tensor<f32>
}
func.func @norm_of_gradients(%a: tensor<1500xf32>, %b: tensor<33x21xf32>) -> tensor<f32> {
  %p = nn.square %a : tensor<1500xf32>
  %q = nn.square %b : tensor<33x21xf32>
  %s = nn.reduce sum %p over [0] : tensor<1500xf32>
  %t = nn.reduce sum %q over [0, 1] : tensor<33x21xf32>
  %u = nn.add %s, %t : tensor<f32>, tensor<f32>
  %r = nn.sqrt %u : tensor<f32>
  return %r : tensor<f32>
}
func.func @largest_of_columns(%x: tensor<70x19xf32>) -> (tensor<19xf32>, tensor<70xf32>) {
  %max = nn.reduce max %x over [0] : tensor<70x19xf32>
  %min = nn.reduce min %x over [1] : tensor<70x19xf32>
  return %max, %min : tensor<19xf32>, tensor<70xf32>
}
func.func @moved(%x: tensor<5x19x21xf32>) -> (tensor<21x5x19xf32>, tensor<5x8x21xf32>, tensor<5x19x26xf32>, tensor<5x38x21xf32>) {
  %a = nn.transpose %x by [2, 0, 1] : tensor<5x19x21xf32>
  %b = nn.slice %x dim 1 from 11 size 8 : tensor<5x19x21xf32>
  %c = nn.pad %x dim 2 low 2 high 3 : tensor<5x19x21xf32>
  %d = nn.concat dim 1 %x, %x : tensor<5x19x21xf32>, tensor<5x19x21xf32>
  return %a, %b, %c, %d : tensor<21x5x19xf32>, tensor<5x8x21xf32>, tensor<5x19x26xf32>, tensor<5x38x21xf32>
}
func.func @embedding_and_gradient(%table: tensor<50x33xf32>, %ids: tensor<7x11xi32> {check.integers = [-1, 51]}, %g: tensor<7x11x33xf32>)
    -> (tensor<7x11x33xf32>, tensor<50x33xf32>) {
  %x = nn.gather %table at %ids : tensor<50x33xf32>, tensor<7x11xi32>
  %zero = nn.constant 0.0 : tensor<50x33xf32>
  %d = nn.scatter_add %g into %zero at %ids : tensor<7x11x33xf32>, tensor<50x33xf32>, tensor<7x11xi32>
  return %x, %d : tensor<7x11x33xf32>, tensor<50x33xf32>
}
func.func @rope(%x: tensor<2x13x40xf32>) -> tensor<2x13x40xf32> {
  %positions = nn.iota 0 : tensor<13xi32>
  %r = nn.rope %x positions %positions heads 4 theta 1.0e4 : tensor<2x13x40xf32>, tensor<13xi32>
  return %r : tensor<2x13x40xf32>
}
func.func @rope_interleaved(%x: tensor<2x13x40xf32>) -> tensor<2x13x40xf32> {
  %positions = nn.iota 0 : tensor<13xi32>
  %r = nn.rope %x positions %positions heads 2 theta 1.0e4 rotary 14 interleaved : tensor<2x13x40xf32>, tensor<13xi32>
  return %r : tensor<2x13x40xf32>
}
func.func @rope_scaled(%x: tensor<2x13x76xf32>) -> tensor<2x13x76xf32> {
  %positions = nn.iota 0 : tensor<13xi32>
  %r = nn.rope %x positions %positions heads 2 theta 1.0e4 rotary 34 scaling yarn(factor 4, original 64) : tensor<2x13x76xf32>, tensor<13xi32>
  return %r : tensor<2x13x76xf32>
}
func.func @attention(%q: tensor<2x71x24xf32> {check.range = [-2.0, 2.0]}, %k: tensor<2x71x12xf32> {check.range = [-2.0, 2.0]}, %v: tensor<2x71x12xf32>)
    -> (tensor<2x71x24xf32>, tensor<2x2x71xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 causal : tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>
  return %out, %lse : tensor<2x71x24xf32>, tensor<2x2x71xf32>
}
func.func @attention_gradients(%q: tensor<1x67x16xf32>, %k: tensor<1x67x16xf32>, %v: tensor<1x67x16xf32>, %g: tensor<1x67x16xf32>,
                               %segments: tensor<1x67xi32> {check.integers = [0, 2]})
    -> (tensor<1x67x16xf32>, tensor<1x67x16xf32>, tensor<1x67x16xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal scale 0.5 segments %segments : tensor<1x67xi32> : tensor<1x67x16xf32>, tensor<1x67x16xf32>, tensor<1x67x16xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 2 causal scale 0.5 segments %segments : tensor<1x67xi32> : tensor<1x67x16xf32>, tensor<1x67x16xf32>, tensor<1x67x16xf32>, tensor<1x67x16xf32>, tensor<1x2x67xf32>, tensor<1x67x16xf32>
  return %dq, %dk, %dv : tensor<1x67x16xf32>, tensor<1x67x16xf32>, tensor<1x67x16xf32>
}
func.func @attention_gradients_of_both(%q: tensor<2x37x24xf32>, %k: tensor<2x37x12xf32>, %v: tensor<2x37x12xf32>, %g: tensor<2x37x24xf32>,
                                       %h: tensor<2x4x37xf32>) -> (tensor<2x37x24xf32>, tensor<2x37x12xf32>, tensor<2x37x12xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal scale 0.5 : tensor<2x37x24xf32>, tensor<2x37x12xf32>, tensor<2x37x12xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 4 kv_heads 2 causal scale 0.5 dlse %h : tensor<2x4x37xf32> : tensor<2x37x24xf32>, tensor<2x37x12xf32>, tensor<2x37x12xf32>, tensor<2x37x24xf32>, tensor<2x4x37xf32>, tensor<2x37x24xf32>
  return %dq, %dk, %dv : tensor<2x37x24xf32>, tensor<2x37x12xf32>, tensor<2x37x12xf32>
}
func.func @attention_window_of_both_sides(%q: tensor<1x150x8xf32>, %k: tensor<1x170x4xf32>, %v: tensor<1x170x4xf32>, %g: tensor<1x150x8xf32>)
    -> (tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x170x4xf32>, tensor<1x170x4xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 window 37 : tensor<1x150x8xf32>, tensor<1x170x4xf32>, tensor<1x170x4xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 1 window 37 scale 0.5 : tensor<1x150x8xf32>, tensor<1x170x4xf32>, tensor<1x170x4xf32>, tensor<1x150x8xf32>, tensor<1x2x150xf32>, tensor<1x150x8xf32>
  return %out, %dq, %dk, %dv : tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x170x4xf32>, tensor<1x170x4xf32>
}
func.func @attention_window_gradients(%q: tensor<1x150x8xf32>, %k: tensor<1x170x8xf32>, %v: tensor<1x170x8xf32>, %g: tensor<1x150x8xf32>)
    -> (tensor<1x150x8xf32>, tensor<1x170x8xf32>, tensor<1x170x8xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal window 45 scale 0.5 : tensor<1x150x8xf32>, tensor<1x170x8xf32>, tensor<1x170x8xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 2 causal window 45 scale 0.5 : tensor<1x150x8xf32>, tensor<1x170x8xf32>, tensor<1x170x8xf32>, tensor<1x150x8xf32>, tensor<1x2x150xf32>, tensor<1x150x8xf32>
  return %dq, %dk, %dv : tensor<1x150x8xf32>, tensor<1x170x8xf32>, tensor<1x170x8xf32>
}
func.func @attention_window_of_more_queries(%q: tensor<1x150x8xf32>, %k: tensor<1x70x8xf32>, %v: tensor<1x70x8xf32>, %g: tensor<1x150x8xf32>)
    -> (tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x70x8xf32>, tensor<1x70x8xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 window 20 softcap 0.4 scale 0.5 : tensor<1x150x8xf32>, tensor<1x70x8xf32>, tensor<1x70x8xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 2 window 20 softcap 0.4 scale 0.5 : tensor<1x150x8xf32>, tensor<1x70x8xf32>, tensor<1x70x8xf32>, tensor<1x150x8xf32>, tensor<1x2x150xf32>, tensor<1x150x8xf32>
  return %out, %dq, %dk, %dv : tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x70x8xf32>, tensor<1x70x8xf32>
}
func.func @attention_softcap_gradients(%q: tensor<2x71x24xf32> {check.range = [-2.0, 2.0]}, %k: tensor<2x71x12xf32> {check.range = [-2.0, 2.0]}, %v: tensor<2x71x12xf32>, %g: tensor<2x71x24xf32>)
    -> (tensor<2x71x24xf32>, tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 causal softcap 1.5 scale 0.5 : tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 1 causal softcap 1.5 scale 0.5 : tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>, tensor<2x71x24xf32>, tensor<2x2x71xf32>, tensor<2x71x24xf32>
  return %out, %dq, %dk, %dv : tensor<2x71x24xf32>, tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>
}
func.func @attention_alibi_gradients(%q: tensor<2x71x24xf32>, %k: tensor<2x71x12xf32>, %v: tensor<2x71x12xf32>, %g: tensor<2x71x24xf32>)
    -> (tensor<2x71x24xf32>, tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 6 kv_heads 3 causal alibi 0.5 : tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 6 kv_heads 3 causal scale 0.5 alibi 0.5 : tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>, tensor<2x71x24xf32>, tensor<2x6x71xf32>, tensor<2x71x24xf32>
  return %out, %dq, %dk, %dv : tensor<2x71x24xf32>, tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>
}
func.func @attention_alibi_with_fewer_queries(%q: tensor<1x70x8xf32>, %k: tensor<1x150x8xf32>, %v: tensor<1x150x8xf32>, %g: tensor<1x70x8xf32>)
    -> (tensor<1x70x8xf32>, tensor<1x2x70xf32>, tensor<1x70x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal window 101 alibi 1 scale 0.5 : tensor<1x70x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 2 causal window 101 scale 0.5 alibi 1 : tensor<1x70x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x70x8xf32>, tensor<1x2x70xf32>, tensor<1x70x8xf32>
  return %out, %lse, %dq, %dk, %dv : tensor<1x70x8xf32>, tensor<1x2x70xf32>, tensor<1x70x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>
}
func.func @attention_alibi_of_a_cache(%q: tensor<1x3x8xf32>, %k: tensor<1x80x8xf32>, %v: tensor<1x80x8xf32>, %limit: tensor<i32> {check.values = dense<53> : tensor<i32>})
    -> (tensor<1x3x8xf32>, tensor<1x2x3xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 alibi 1 limit %limit : tensor<i32> : tensor<1x3x8xf32>, tensor<1x80x8xf32>, tensor<1x80x8xf32>
  return %out, %lse : tensor<1x3x8xf32>, tensor<1x2x3xf32>
}
func.func @replaced_rows(%x: tensor<5x7x37xf32>, %table: tensor<80x37xf32>,
    %ids: tensor<5x7xi32> {check.values = dense<[[3, 1, 79, 0, -1, 80, 2], [10, 11, 12, 13, 14, 15, 16], [20, 21, 22, 23, 24, 25, 26], [30, 31, 32, 33, 34, 35, 36], [78, 77, 76, 75, 74, 73, 72]]> : tensor<5x7xi32>})
    -> tensor<80x37xf32> {
  %r = nn.scatter %x into %table at %ids : tensor<5x7x37xf32>, tensor<80x37xf32>, tensor<5x7xi32>
  return %r : tensor<80x37xf32>
}
func.func @replaced_long_rows(%x: tensor<2x40000xf32>, %table: tensor<3x40000xf32>, %ids: tensor<2xi64> {check.values = dense<[2, 0]> : tensor<2xi64>}) -> tensor<3x40000xf32> {
  %r = nn.scatter %x into %table at %ids : tensor<2x40000xf32>, tensor<3x40000xf32>, tensor<2xi64>
  return %r : tensor<3x40000xf32>
}
func.func @replaced_bf16_rows(%x: tensor<2x24xbf16>, %table: tensor<9x24xbf16>, %ids: tensor<2xi32> {check.values = dense<[8, 3]> : tensor<2xi32>}) -> tensor<9x24xbf16> {
  %r = nn.scatter %x into %table at %ids : tensor<2x24xbf16>, tensor<9x24xbf16>, tensor<2xi32>
  return %r : tensor<9x24xbf16>
}
func.func @attention_limits_of_sequences(%q: tensor<4x1x8xf32>, %k: tensor<4x80x8xf32>, %v: tensor<4x80x8xf32>,
    %limit: tensor<4xi32> {check.values = dense<[53, 0, 79, 36]> : tensor<4xi32>}) -> (tensor<4x1x8xf32>, tensor<4x2x1xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 limit %limit : tensor<4xi32> : tensor<4x1x8xf32>, tensor<4x80x8xf32>, tensor<4x80x8xf32>
  return %out, %lse : tensor<4x1x8xf32>, tensor<4x2x1xf32>
}
func.func @attention_masks_and_biases_of_sequences(%q: tensor<3x1x8xf32>, %k: tensor<3x80x8xf32>, %v: tensor<3x80x8xf32>, %sinks: tensor<2xf32>,
    %bias: tensor<2x159xf32>, %limit: tensor<3xi32> {check.values = dense<[53, 3, 79]> : tensor<3xi32>}) -> (tensor<3x1x8xf32>, tensor<3x2x1xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 window 20 alibi 0.5 limit %limit : tensor<3xi32> sinks %sinks : tensor<2xf32> bias %bias : tensor<2x159xf32> : tensor<3x1x8xf32>, tensor<3x80x8xf32>, tensor<3x80x8xf32>
  return %out, %lse : tensor<3x1x8xf32>, tensor<3x2x1xf32>
}
func.func @attention_sinks(%q: tensor<2x71x24xf32>, %k: tensor<2x71x12xf32>, %v: tensor<2x71x12xf32>, %sinks: tensor<2xf32>)
    -> (tensor<2x71x24xf32>, tensor<2x2x71xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 causal window 37 sinks %sinks : tensor<2xf32> : tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>
  return %out, %lse : tensor<2x71x24xf32>, tensor<2x2x71xf32>
}
func.func @attention_sinks_gradients(%q: tensor<2x71x24xf32>, %k: tensor<2x71x12xf32>, %v: tensor<2x71x12xf32>, %g: tensor<2x71x24xf32>, %sinks: tensor<2xf32>)
    -> (tensor<2x71x24xf32>, tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 causal scale 0.5 sinks %sinks : tensor<2xf32> : tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 1 causal scale 0.5 : tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>, tensor<2x71x24xf32>, tensor<2x2x71xf32>, tensor<2x71x24xf32>
  return %out, %dq, %dk, %dv : tensor<2x71x24xf32>, tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>
}
func.func @attention_sinks_of_a_cache(%q: tensor<1x1x8xf32>, %k: tensor<1x80x8xf32>, %v: tensor<1x80x8xf32>, %sinks: tensor<2xf32>, %limit: tensor<i32> {check.values = dense<53> : tensor<i32>})
    -> (tensor<1x1x8xf32>, tensor<1x2x1xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 window 20 limit %limit : tensor<i32> sinks %sinks : tensor<2xf32> : tensor<1x1x8xf32>, tensor<1x80x8xf32>, tensor<1x80x8xf32>
  return %out, %lse : tensor<1x1x8xf32>, tensor<1x2x1xf32>
}
func.func @attention_dropout_gradients(%q: tensor<2x71x24xf32>, %k: tensor<2x71x12xf32>, %v: tensor<2x71x12xf32>, %g: tensor<2x71x24xf32>,
    %key: tensor<4xi32> {check.values = dense<[3, 14159265, 35, 2]> : tensor<4xi32>})
    -> (tensor<2x71x24xf32>, tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 causal dropout 0.2 scale 0.5 dropout_key %key : tensor<4xi32> : tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 1 causal scale 0.5 dropout 0.2 dropout_key %key : tensor<4xi32> : tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>, tensor<2x71x24xf32>, tensor<2x2x71xf32>, tensor<2x71x24xf32>
  return %out, %dq, %dk, %dv : tensor<2x71x24xf32>, tensor<2x71x24xf32>, tensor<2x71x12xf32>, tensor<2x71x12xf32>
}
func.func @attention_window(%q: tensor<1x150x8xf32>, %k: tensor<1x150x8xf32>, %v: tensor<1x150x8xf32>) -> tensor<1x150x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal window 37 : tensor<1x150x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>
  return %out : tensor<1x150x8xf32>
}
func.func @attention_window_with_fewer_queries(%q: tensor<1x70x8xf32>, %k: tensor<1x150x8xf32>, %v: tensor<1x150x8xf32>) -> tensor<1x70x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal window 5 : tensor<1x70x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>
  return %out : tensor<1x70x8xf32>
}
func.func @attention_window_before_a_limit(%q: tensor<1x1x8xf32>, %k: tensor<1x150x8xf32>, %v: tensor<1x150x8xf32>,
                                 %limit: tensor<i32> {check.values = dense<99> : tensor<i32>}) -> tensor<1x1x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 window 40 limit %limit : tensor<i32> : tensor<1x1x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>
  return %out : tensor<1x1x8xf32>
}

// The values of the first keys are infinite. A kernel that visited them and hid their scores would add 0 times infinity.
func.func @attention_window_skips_blocks(%q: tensor<1x1x8xf32>, %k: tensor<1x150x8xf32>, %x: tensor<1x150x8xf32>) -> tensor<1x1x8xf32> {
  %position = nn.iota 1 : tensor<1x150x8xf32>
  %two = nn.constant 2.0 : tensor<1x150x8xf32>
  %first = nn.constant 128.0 : tensor<1x150x8xf32>
  %twice = nn.mul %position, %two : tensor<1x150x8xf32>, tensor<1x150x8xf32>
  %falling = nn.sub %first, %twice : tensor<1x150x8xf32>, tensor<1x150x8xf32>
  %large = nn.exp %falling : tensor<1x150x8xf32>
  %v = nn.add %x, %large : tensor<1x150x8xf32>, tensor<1x150x8xf32>
  %out, %lse = nn.attention %q, %k, %v heads 2 causal window 5 : tensor<1x1x8xf32>, tensor<1x150x8xf32>, tensor<1x150x8xf32>
  return %out : tensor<1x1x8xf32>
}
func.func @adamw(%w: tensor<1111xf32>, %g: tensor<1111xf32>, %m: tensor<1111xf32>, %v: tensor<1111xf32> {check.range = [0.01, 1.0]}, %lr: tensor<f32> {check.range = [0.01, 0.02]})
    -> (tensor<1111xf32>, tensor<1111xf32>, tensor<1111xf32>) {
  %beta = nn.constant 0.9 : tensor<1111xf32>
  %rest = nn.constant 0.1 : tensor<1111xf32>
  %a = nn.mul %m, %beta : tensor<1111xf32>, tensor<1111xf32>
  %b = nn.mul %g, %rest : tensor<1111xf32>, tensor<1111xf32>
  %m1 = nn.add %a, %b : tensor<1111xf32>, tensor<1111xf32>
  %gg = nn.square %g : tensor<1111xf32>
  %c = nn.mul %v, %beta : tensor<1111xf32>, tensor<1111xf32>
  %d = nn.mul %gg, %rest : tensor<1111xf32>, tensor<1111xf32>
  %v1 = nn.add %c, %d : tensor<1111xf32>, tensor<1111xf32>
  %root = nn.sqrt %v1 : tensor<1111xf32>
  %q = nn.div %m1, %root : tensor<1111xf32>, tensor<1111xf32>
  %rate = nn.broadcast %lr to [1111] : tensor<f32>
  %step = nn.mul %q, %rate : tensor<1111xf32>, tensor<1111xf32>
  %w1 = nn.sub %w, %step : tensor<1111xf32>, tensor<1111xf32>
  return %w1, %m1, %v1 : tensor<1111xf32>, tensor<1111xf32>, tensor<1111xf32>
}
// Elements of both types in one module: what kernels call is not taken for the other type's.
func.func @products_of_two_types(%a: tensor<37x40xf32>, %b: tensor<40x50xf32>, %c: tensor<37x40xf64>, %d: tensor<40x50xf64>,
                                 %q: tensor<1x33x16xf32>, %r: tensor<1x33x16xf64>)
    -> (tensor<37x50xf32>, tensor<37x50xf64>, tensor<37x37xf32>, tensor<37x37xf64>, tensor<1x33x16xf32>, tensor<1x33x16xf64>) {
  %0 = nn.matmul %a, %b : tensor<37x40xf32>, tensor<40x50xf32>
  %1 = nn.matmul %c, %d : tensor<37x40xf64>, tensor<40x50xf64>
  %2 = nn.matmul %a, %a transposed : tensor<37x40xf32>, tensor<37x40xf32>
  %3 = nn.matmul %c, %c transposed : tensor<37x40xf64>, tensor<37x40xf64>
  %4, %lse4 = nn.attention %q, %q, %q heads 2 : tensor<1x33x16xf32>, tensor<1x33x16xf32>, tensor<1x33x16xf32>
  %5, %lse5 = nn.attention %r, %r, %r heads 2 : tensor<1x33x16xf64>, tensor<1x33x16xf64>, tensor<1x33x16xf64>
  return %0, %1, %2, %3, %4, %5 : tensor<37x50xf32>, tensor<37x50xf64>, tensor<37x37xf32>, tensor<37x37xf64>, tensor<1x33x16xf32>, tensor<1x33x16xf64>
}
