// RUN: trainc-check %s --reference --kernels --bound=1e-6
// RUN: trainc-check %s --kernels --precision=bf16 --bound=2e-6
// RUN: trainc-check %s --kernels --precision=fp16 --bound=2e-6

// ALiBi, biases of distances, sinks and dropout of attention and its gradient over several blocks of positions, also as training computes them in bf16 and f16.

func.func @alibi(%q: tensor<2x71x36xf32>, %k: tensor<2x71x36xf32>, %v: tensor<2x71x36xf32>, %g: tensor<2x71x36xf32>)
    -> (tensor<2x71x36xf32>, tensor<2x71x36xf32>, tensor<2x71x36xf32>, tensor<2x71x36xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 3 causal scale 0.3 alibi 1 : tensor<2x71x36xf32>, tensor<2x71x36xf32>, tensor<2x71x36xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 3 kv_heads 3 causal scale 0.3 alibi 1 : tensor<2x71x36xf32>, tensor<2x71x36xf32>, tensor<2x71x36xf32>, tensor<2x71x36xf32>, tensor<2x3x71xf32>, tensor<2x71x36xf32>
  return %out, %dq, %dk, %dv : tensor<2x71x36xf32>, tensor<2x71x36xf32>, tensor<2x71x36xf32>, tensor<2x71x36xf32>
}
func.func @sinks(%q: tensor<2x71x32xf32>, %k: tensor<2x71x16xf32>, %v: tensor<2x71x16xf32>, %g: tensor<2x71x32xf32>, %sinks: tensor<2xf32>)
    -> (tensor<2x71x32xf32>, tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 causal scale 0.3 sinks %sinks : tensor<2xf32> : tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 1 causal scale 0.3 : tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>, tensor<2x71x32xf32>, tensor<2x2x71xf32>, tensor<2x71x32xf32>
  return %out, %dq, %dk, %dv : tensor<2x71x32xf32>, tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>
}
func.func @dropout(%q: tensor<2x71x32xf32>, %k: tensor<2x71x16xf32>, %v: tensor<2x71x16xf32>, %g: tensor<2x71x32xf32>,
    %key: tensor<4xi32> {check.values = dense<[31, 41, 59, 26]> : tensor<4xi32>})
    -> (tensor<2x71x32xf32>, tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 causal scale 0.3 dropout 0.25 dropout_key %key : tensor<4xi32> : tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 1 causal scale 0.3 dropout 0.25 dropout_key %key : tensor<4xi32> : tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>, tensor<2x71x32xf32>, tensor<2x2x71xf32>, tensor<2x71x32xf32>
  return %out, %dq, %dk, %dv : tensor<2x71x32xf32>, tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>
}
func.func @bias(%q: tensor<2x71x32xf32>, %k: tensor<2x71x16xf32>, %v: tensor<2x71x16xf32>, %g: tensor<2x71x32xf32>, %bias: tensor<2x141xf32>)
    -> (tensor<2x71x32xf32>, tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>, tensor<2x141xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 kv_heads 1 scale 0.3 bias %bias : tensor<2x141xf32> : tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>
  %dq, %dk, %dv, %dbias = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 2 kv_heads 1 scale 0.3 bias %bias : tensor<2x141xf32> : tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>, tensor<2x71x32xf32>, tensor<2x2x71xf32>, tensor<2x71x32xf32>
  return %out, %dq, %dk, %dv, %dbias : tensor<2x71x32xf32>, tensor<2x71x32xf32>, tensor<2x71x16xf32>, tensor<2x71x16xf32>, tensor<2x141xf32>
}
func.func @bias_of_other_forms(%q: tensor<1x71x48xf32>, %k: tensor<1x135x24xf32>, %v: tensor<1x135x24xf32>, %g: tensor<1x71x48xf32>, %bias: tensor<6x301xf32>)
    -> (tensor<1x71x48xf32>, tensor<1x71x48xf32>, tensor<1x135x24xf32>, tensor<1x135x24xf32>, tensor<6x301xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 6 kv_heads 3 causal window 97 softcap 3 scale 0.5 alibi 0.5 bias %bias : tensor<6x301xf32> : tensor<1x71x48xf32>, tensor<1x135x24xf32>, tensor<1x135x24xf32>
  %dq, %dk, %dv, %dbias = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 6 kv_heads 3 causal window 97 softcap 3 scale 0.5 alibi 0.5 bias %bias : tensor<6x301xf32> : tensor<1x71x48xf32>, tensor<1x135x24xf32>, tensor<1x135x24xf32>, tensor<1x71x48xf32>, tensor<1x6x71xf32>, tensor<1x71x48xf32>
  return %out, %dq, %dk, %dv, %dbias : tensor<1x71x48xf32>, tensor<1x71x48xf32>, tensor<1x135x24xf32>, tensor<1x135x24xf32>, tensor<6x301xf32>
}
func.func @all(%q: tensor<1x71x48xf32>, %k: tensor<1x135x24xf32>, %v: tensor<1x135x24xf32>, %g: tensor<1x71x48xf32>, %sinks: tensor<6xf32>,
    %key: tensor<4xi32> {check.values = dense<[2, 7, 18, 28]> : tensor<4xi32>})
    -> (tensor<1x71x48xf32>, tensor<1x71x48xf32>, tensor<1x135x24xf32>, tensor<1x135x24xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 6 kv_heads 3 causal window 97 softcap 3 scale 0.5 alibi 0.5 dropout 0.1 sinks %sinks : tensor<6xf32> dropout_key %key : tensor<4xi32> : tensor<1x71x48xf32>, tensor<1x135x24xf32>, tensor<1x135x24xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %out, %lse, %g heads 6 kv_heads 3 causal window 97 softcap 3 scale 0.5 alibi 0.5 dropout 0.1 dropout_key %key : tensor<4xi32> : tensor<1x71x48xf32>, tensor<1x135x24xf32>, tensor<1x135x24xf32>, tensor<1x71x48xf32>, tensor<1x6x71xf32>, tensor<1x71x48xf32>
  return %out, %dq, %dk, %dv : tensor<1x71x48xf32>, tensor<1x71x48xf32>, tensor<1x135x24xf32>, tensor<1x135x24xf32>
}

// The share of weights that are kept, times 1/(1 - p), has the mean 1. The tolerance is four standard deviations of 65,536 draws,
// 4 sqrt(p / (1 - p) / 65536). GPUs round each weight, here 1/(1 - p), to bf16: by half a ULP, 3.9e-3.
func.func @kept_share(%q: tensor<4x64x8xf32> {check.values = dense<0.0> : tensor<4x64x8xf32>}, %k: tensor<4x64x8xf32> {check.values = dense<0.0> : tensor<4x64x8xf32>},
    %v: tensor<4x64x8xf32> {check.values = dense<1.0> : tensor<4x64x8xf32>}, %key: tensor<4xi32> {check.values = dense<[1618033, 9887498, 9484820, 4]> : tensor<4xi32>})
    -> (tensor<f32> {check.expect = dense<1.0> : tensor<f32>}) attributes {check.tolerance = 9.0e-3, check.kernel_tolerance = 4.0e-3} {
  %out, %lse = nn.attention %q, %k, %v heads 4 dropout 0.25 dropout_key %key : tensor<4xi32> : tensor<4x64x8xf32>, tensor<4x64x8xf32>, tensor<4x64x8xf32>
  %mean = nn.reduce mean %out over [0, 1, 2] : tensor<4x64x8xf32>
  return %mean : tensor<f32>
}
