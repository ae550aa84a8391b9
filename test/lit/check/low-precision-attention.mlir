// RUN: trainc-check %s --kernels --bound=2e-6

// Attention of bf16 and f16, in blocks and with what is left over: all between is f32.

// --- bf16 ---

func.func @causal_bf16(%q: tensor<2x67x60xbf16>, %k: tensor<2x67x60xbf16>, %v: tensor<2x67x60xbf16>) -> (tensor<2x67x60xbf16>, tensor<2x3x67xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal : tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>
  return %out, %lse : tensor<2x67x60xbf16>, tensor<2x3x67xf32>
}
func.func @grouped_bf16(%q: tensor<1x67x256xbf16>, %k: tensor<1x67x128xbf16>, %v: tensor<1x67x128xbf16>) -> (tensor<1x67x256xbf16>, tensor<1x4x67xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal : tensor<1x67x256xbf16>, tensor<1x67x128xbf16>, tensor<1x67x128xbf16>
  return %out, %lse : tensor<1x67x256xbf16>, tensor<1x4x67xf32>
}
func.func @widths_bf16(%q: tensor<1x35x14xbf16>, %k: tensor<1x70x14xbf16>, %v: tensor<1x70x26xbf16>) -> (tensor<1x35x26xbf16>, tensor<1x2x35xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 : tensor<1x35x14xbf16>, tensor<1x70x14xbf16>, tensor<1x70x26xbf16>
  return %out, %lse : tensor<1x35x26xbf16>, tensor<1x2x35xf32>
}
func.func @segments_bf16(%q: tensor<2x45x32xbf16>, %k: tensor<2x45x32xbf16>, %v: tensor<2x45x32xbf16>,
    %segments: tensor<2x45xi32> {check.integers = [0, 3]}) -> (tensor<2x45x32xbf16>, tensor<2x2x45xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal segments %segments : tensor<2x45xi32> : tensor<2x45x32xbf16>, tensor<2x45x32xbf16>, tensor<2x45x32xbf16>
  return %out, %lse : tensor<2x45x32xbf16>, tensor<2x2x45xf32>
}
func.func @softcap_in_window_bf16(%q: tensor<2x67x32xbf16> {check.range = [-2.0, 2.0]}, %k: tensor<2x67x16xbf16> {check.range = [-2.0, 2.0]}, %v: tensor<2x67x16xbf16>) -> (tensor<2x67x32xbf16>, tensor<2x2x67xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 causal window 19 softcap 1.5 scale 0.5 : tensor<2x67x32xbf16>, tensor<2x67x16xbf16>, tensor<2x67x16xbf16>
  return %out, %lse : tensor<2x67x32xbf16>, tensor<2x2x67xf32>
}
func.func @alibi_sinks_and_dropout_bf16(%q: tensor<2x67x32xbf16>, %k: tensor<2x67x16xbf16>, %v: tensor<2x67x16xbf16>, %sinks: tensor<2xbf16>,
    %key: tensor<4xi32> {check.values = dense<[27, 18, 28, 1]> : tensor<4xi32>}) -> (tensor<2x67x32xbf16>, tensor<2x2x67xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 causal alibi 1 dropout 0.25 sinks %sinks : tensor<2xbf16> dropout_key %key : tensor<4xi32> : tensor<2x67x32xbf16>, tensor<2x67x16xbf16>, tensor<2x67x16xbf16>
  return %out, %lse : tensor<2x67x32xbf16>, tensor<2x2x67xf32>
}
func.func @limited_bf16(%q: tensor<1x3x32xbf16>, %k: tensor<1x40x16xbf16>, %v: tensor<1x40x16xbf16>,
    %limit: tensor<i32> {check.values = dense<30> : tensor<i32>}) -> (tensor<1x3x32xbf16>, tensor<1x2x3xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 limit %limit : tensor<i32> : tensor<1x3x32xbf16>, tensor<1x40x16xbf16>, tensor<1x40x16xbf16>
  return %out, %lse : tensor<1x3x32xbf16>, tensor<1x2x3xf32>
}

// The kernel computes the gradient from dO O with the rounded `out`; the reference subtracts the exact P dP instead. The tolerance is the
// rounding of `out`: half a ULP of numbers up to 1.
func.func @causal_gradient_bf16(%q: tensor<2x67x60xbf16>, %k: tensor<2x67x60xbf16>, %v: tensor<2x67x60xbf16>, %g: tensor<2x67x60xbf16>) -> (tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>)
    attributes {check.kernel_tolerance = 4.0e-3} {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal scale 0.3 : tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 3 kv_heads 3 causal scale 0.3 : tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x3x67xf32>, tensor<2x67x60xbf16>
  return %dq, %dk, %dv : tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>
}
func.func @grouped_gradient_bf16(%q: tensor<1x67x256xbf16>, %k: tensor<1x67x128xbf16>, %v: tensor<1x67x128xbf16>, %g: tensor<1x67x256xbf16>) -> (tensor<1x67x256xbf16>, tensor<1x67x128xbf16>, tensor<1x67x128xbf16>)
    attributes {check.kernel_tolerance = 4.0e-3} {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal scale 0.3 : tensor<1x67x256xbf16>, tensor<1x67x128xbf16>, tensor<1x67x128xbf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 4 kv_heads 2 causal scale 0.3 : tensor<1x67x256xbf16>, tensor<1x67x128xbf16>, tensor<1x67x128xbf16>, tensor<1x67x256xbf16>, tensor<1x4x67xf32>, tensor<1x67x256xbf16>
  return %dq, %dk, %dv : tensor<1x67x256xbf16>, tensor<1x67x128xbf16>, tensor<1x67x128xbf16>
}
func.func @widths_gradient_bf16(%q: tensor<1x35x14xbf16>, %k: tensor<1x70x14xbf16>, %v: tensor<1x70x26xbf16>, %g: tensor<1x35x26xbf16>) -> (tensor<1x35x14xbf16>, tensor<1x70x14xbf16>, tensor<1x70x26xbf16>)
    attributes {check.kernel_tolerance = 4.0e-3} {
  %out, %lse = nn.attention %q, %k, %v heads 2 scale 0.3 : tensor<1x35x14xbf16>, tensor<1x70x14xbf16>, tensor<1x70x26xbf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 2 scale 0.3 : tensor<1x35x14xbf16>, tensor<1x70x14xbf16>, tensor<1x70x26xbf16>, tensor<1x35x26xbf16>, tensor<1x2x35xf32>, tensor<1x35x26xbf16>
  return %dq, %dk, %dv : tensor<1x35x14xbf16>, tensor<1x70x14xbf16>, tensor<1x70x26xbf16>
}
func.func @alibi_and_dropout_gradient_bf16(%q: tensor<2x67x32xbf16>, %k: tensor<2x67x16xbf16>, %v: tensor<2x67x16xbf16>, %g: tensor<2x67x32xbf16>,
    %key: tensor<4xi32> {check.values = dense<[27, 18, 28, 1]> : tensor<4xi32>}) -> (tensor<2x67x32xbf16>, tensor<2x67x16xbf16>, tensor<2x67x16xbf16>)
    attributes {check.kernel_tolerance = 4.0e-3} {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 causal scale 0.3 alibi 1 dropout 0.25 dropout_key %key : tensor<4xi32> : tensor<2x67x32xbf16>, tensor<2x67x16xbf16>, tensor<2x67x16xbf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 1 causal scale 0.3 alibi 1 dropout 0.25 dropout_key %key : tensor<4xi32> : tensor<2x67x32xbf16>, tensor<2x67x16xbf16>, tensor<2x67x16xbf16>, tensor<2x67x32xbf16>, tensor<2x2x67xf32>, tensor<2x67x32xbf16>
  return %dq, %dk, %dv : tensor<2x67x32xbf16>, tensor<2x67x16xbf16>, tensor<2x67x16xbf16>
}
// The last vector of a head has one number.
func.func @odd_widths_gradient_bf16(%q: tensor<2x67x18xbf16>, %k: tensor<2x67x18xbf16>, %v: tensor<2x67x18xbf16>, %g: tensor<2x67x18xbf16>) -> (tensor<2x67x18xbf16>, tensor<2x67x18xbf16>, tensor<2x67x18xbf16>, tensor<2x67x18xbf16>)
    attributes {check.kernel_tolerance = 4.0e-3} {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal scale 0.3 : tensor<2x67x18xbf16>, tensor<2x67x18xbf16>, tensor<2x67x18xbf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 2 causal scale 0.3 : tensor<2x67x18xbf16>, tensor<2x67x18xbf16>, tensor<2x67x18xbf16>, tensor<2x67x18xbf16>, tensor<2x2x67xf32>, tensor<2x67x18xbf16>
  return %out, %dq, %dk, %dv : tensor<2x67x18xbf16>, tensor<2x67x18xbf16>, tensor<2x67x18xbf16>, tensor<2x67x18xbf16>
}
func.func @segments_gradient_bf16(%q: tensor<2x45x32xbf16>, %k: tensor<2x45x32xbf16>, %v: tensor<2x45x32xbf16>, %g: tensor<2x45x32xbf16>,
    %segments: tensor<2x45xi32> {check.integers = [0, 3]}) -> (tensor<2x45x32xbf16>, tensor<2x45x32xbf16>, tensor<2x45x32xbf16>)
    attributes {check.kernel_tolerance = 4.0e-3} {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal scale 0.3 segments %segments : tensor<2x45xi32> : tensor<2x45x32xbf16>, tensor<2x45x32xbf16>, tensor<2x45x32xbf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 2 causal scale 0.3 segments %segments : tensor<2x45xi32> : tensor<2x45x32xbf16>, tensor<2x45x32xbf16>, tensor<2x45x32xbf16>, tensor<2x45x32xbf16>, tensor<2x2x45xf32>, tensor<2x45x32xbf16>
  return %dq, %dk, %dv : tensor<2x45x32xbf16>, tensor<2x45x32xbf16>, tensor<2x45x32xbf16>
}

func.func @gradient_of_both_bf16(%q: tensor<2x67x60xbf16>, %k: tensor<2x67x60xbf16>, %v: tensor<2x67x60xbf16>, %g: tensor<2x67x60xbf16>, %h: tensor<2x3x67xf32>)
    -> (tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>) attributes {check.kernel_tolerance = 4.0e-3} {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal scale 0.3 : tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 3 kv_heads 3 causal scale 0.3 dlse %h : tensor<2x3x67xf32> : tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x3x67xf32>, tensor<2x67x60xbf16>
  return %dq, %dk, %dv : tensor<2x67x60xbf16>, tensor<2x67x60xbf16>, tensor<2x67x60xbf16>
}

// --- f16 ---

func.func @causal_f16(%q: tensor<2x67x60xf16>, %k: tensor<2x67x60xf16>, %v: tensor<2x67x60xf16>) -> (tensor<2x67x60xf16>, tensor<2x3x67xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal : tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>
  return %out, %lse : tensor<2x67x60xf16>, tensor<2x3x67xf32>
}
func.func @grouped_f16(%q: tensor<1x67x256xf16>, %k: tensor<1x67x128xf16>, %v: tensor<1x67x128xf16>) -> (tensor<1x67x256xf16>, tensor<1x4x67xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal : tensor<1x67x256xf16>, tensor<1x67x128xf16>, tensor<1x67x128xf16>
  return %out, %lse : tensor<1x67x256xf16>, tensor<1x4x67xf32>
}
func.func @widths_f16(%q: tensor<1x35x14xf16>, %k: tensor<1x70x14xf16>, %v: tensor<1x70x26xf16>) -> (tensor<1x35x26xf16>, tensor<1x2x35xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 : tensor<1x35x14xf16>, tensor<1x70x14xf16>, tensor<1x70x26xf16>
  return %out, %lse : tensor<1x35x26xf16>, tensor<1x2x35xf32>
}
func.func @segments_f16(%q: tensor<2x45x32xf16>, %k: tensor<2x45x32xf16>, %v: tensor<2x45x32xf16>,
    %segments: tensor<2x45xi32> {check.integers = [0, 3]}) -> (tensor<2x45x32xf16>, tensor<2x2x45xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal segments %segments : tensor<2x45xi32> : tensor<2x45x32xf16>, tensor<2x45x32xf16>, tensor<2x45x32xf16>
  return %out, %lse : tensor<2x45x32xf16>, tensor<2x2x45xf32>
}
func.func @limited_f16(%q: tensor<1x3x32xf16>, %k: tensor<1x40x16xf16>, %v: tensor<1x40x16xf16>,
    %limit: tensor<i32> {check.values = dense<30> : tensor<i32>}) -> (tensor<1x3x32xf16>, tensor<1x2x3xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 limit %limit : tensor<i32> : tensor<1x3x32xf16>, tensor<1x40x16xf16>, tensor<1x40x16xf16>
  return %out, %lse : tensor<1x3x32xf16>, tensor<1x2x3xf32>
}

// The kernel computes the gradient from dO O with the rounded `out`; the reference subtracts the exact P dP instead. The tolerance is the
// rounding of `out`: half a ULP of numbers up to 1.
func.func @causal_gradient_f16(%q: tensor<2x67x60xf16>, %k: tensor<2x67x60xf16>, %v: tensor<2x67x60xf16>, %g: tensor<2x67x60xf16>) -> (tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>)
    attributes {check.kernel_tolerance = 5.0e-4} {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal scale 0.3 : tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 3 kv_heads 3 causal scale 0.3 : tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x3x67xf32>, tensor<2x67x60xf16>
  return %dq, %dk, %dv : tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>
}
func.func @grouped_gradient_f16(%q: tensor<1x67x256xf16>, %k: tensor<1x67x128xf16>, %v: tensor<1x67x128xf16>, %g: tensor<1x67x256xf16>) -> (tensor<1x67x256xf16>, tensor<1x67x128xf16>, tensor<1x67x128xf16>)
    attributes {check.kernel_tolerance = 5.0e-4} {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal scale 0.3 : tensor<1x67x256xf16>, tensor<1x67x128xf16>, tensor<1x67x128xf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 4 kv_heads 2 causal scale 0.3 : tensor<1x67x256xf16>, tensor<1x67x128xf16>, tensor<1x67x128xf16>, tensor<1x67x256xf16>, tensor<1x4x67xf32>, tensor<1x67x256xf16>
  return %dq, %dk, %dv : tensor<1x67x256xf16>, tensor<1x67x128xf16>, tensor<1x67x128xf16>
}
func.func @widths_gradient_f16(%q: tensor<1x35x14xf16>, %k: tensor<1x70x14xf16>, %v: tensor<1x70x26xf16>, %g: tensor<1x35x26xf16>) -> (tensor<1x35x14xf16>, tensor<1x70x14xf16>, tensor<1x70x26xf16>)
    attributes {check.kernel_tolerance = 5.0e-4} {
  %out, %lse = nn.attention %q, %k, %v heads 2 scale 0.3 : tensor<1x35x14xf16>, tensor<1x70x14xf16>, tensor<1x70x26xf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 2 scale 0.3 : tensor<1x35x14xf16>, tensor<1x70x14xf16>, tensor<1x70x26xf16>, tensor<1x35x26xf16>, tensor<1x2x35xf32>, tensor<1x35x26xf16>
  return %dq, %dk, %dv : tensor<1x35x14xf16>, tensor<1x70x14xf16>, tensor<1x70x26xf16>
}
func.func @segments_gradient_f16(%q: tensor<2x45x32xf16>, %k: tensor<2x45x32xf16>, %v: tensor<2x45x32xf16>, %g: tensor<2x45x32xf16>,
    %segments: tensor<2x45xi32> {check.integers = [0, 3]}) -> (tensor<2x45x32xf16>, tensor<2x45x32xf16>, tensor<2x45x32xf16>)
    attributes {check.kernel_tolerance = 5.0e-4} {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal scale 0.3 segments %segments : tensor<2x45xi32> : tensor<2x45x32xf16>, tensor<2x45x32xf16>, tensor<2x45x32xf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 2 causal scale 0.3 segments %segments : tensor<2x45xi32> : tensor<2x45x32xf16>, tensor<2x45x32xf16>, tensor<2x45x32xf16>, tensor<2x45x32xf16>, tensor<2x2x45xf32>, tensor<2x45x32xf16>
  return %dq, %dk, %dv : tensor<2x45x32xf16>, tensor<2x45x32xf16>, tensor<2x45x32xf16>
}
func.func @gradient_of_both_f16(%q: tensor<2x67x60xf16>, %k: tensor<2x67x60xf16>, %v: tensor<2x67x60xf16>, %g: tensor<2x67x60xf16>, %h: tensor<2x3x67xf32>)
    -> (tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>) attributes {check.kernel_tolerance = 5.0e-4} {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal scale 0.3 : tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 3 kv_heads 3 causal scale 0.3 dlse %h : tensor<2x3x67xf32> : tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x3x67xf32>, tensor<2x67x60xf16>
  return %dq, %dk, %dv : tensor<2x67x60xf16>, tensor<2x67x60xf16>, tensor<2x67x60xf16>
}
