// RUN: trainc-check %s --reference --gradients --kernels --bound=5e-7

// Gradients of every variant; values are in pytorch-attention.mlir.

func.func @bidirectional(%q: tensor<2x3x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %out : tensor<2x3x4xf32>
}
func.func @causal(%q: tensor<2x3x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %out : tensor<2x3x4xf32>
}
func.func @values_of_other_width(%q: tensor<1x3x4xf32>, %k: tensor<1x3x4xf32>, %v: tensor<1x3x6xf32>) -> tensor<1x3x6xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal scale 0.7 : tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x6xf32>
  return %out : tensor<1x3x6xf32>
}
func.func @grouped(%q: tensor<2x3x8xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x4xf32>) -> tensor<2x3x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal : tensor<2x3x8xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %out : tensor<2x3x8xf32>
}
func.func @fewer_queries(%q: tensor<1x2x4xf32>, %k: tensor<1x4x4xf32>, %v: tensor<1x4x4xf32>) -> tensor<1x2x4xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal : tensor<1x2x4xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>
  return %out : tensor<1x2x4xf32>
}
func.func @segments(%q: tensor<2x4x4xf32>, %k: tensor<2x4x4xf32>, %v: tensor<2x4x4xf32>,
                    %segments: tensor<2x4xi32> {check.values = dense<[[0, 0, 1, 1], [3, 3, 3, 2]]> : tensor<2x4xi32>}) -> tensor<2x4x4xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal segments %segments : tensor<2x4xi32> : tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
  return %out : tensor<2x4x4xf32>
}
func.func @window(%q: tensor<2x5x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x5xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal window 2 : tensor<2x5x4xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>
  return %out, %lse : tensor<2x5x4xf32>, tensor<2x2x5xf32>
}
func.func @window_of_both_sides(%q: tensor<2x5x8xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x4xf32>,
                                %segments: tensor<2x5xi32> {check.values = dense<[[0, 0, 0, 1, 1], [3, 3, 3, 3, 3]]> : tensor<2x5xi32>}) -> tensor<2x5x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 window 3 segments %segments : tensor<2x5xi32> : tensor<2x5x8xf32>, tensor<2x5x4xf32>, tensor<2x5x4xf32>
  return %out : tensor<2x5x8xf32>
}
func.func @softcap(%q: tensor<2x4x4xf32> {check.range = [-3.0, 3.0]}, %k: tensor<2x4x4xf32> {check.range = [-3.0, 3.0]}, %v: tensor<2x4x4xf32>)
    -> (tensor<2x4x4xf32>, tensor<2x2x4xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal softcap 1.5 : tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
  return %out, %lse : tensor<2x4x4xf32>, tensor<2x2x4xf32>
}
func.func @softcap_in_window(%q: tensor<1x3x8xf32>, %k: tensor<1x5x4xf32>, %v: tensor<1x5x4xf32>) -> tensor<1x3x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal scale 0.7 softcap 0.5 window 2 : tensor<1x3x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  return %out : tensor<1x3x8xf32>
}
func.func @alibi(%q: tensor<2x4x12xf32>, %k: tensor<2x4x12xf32>, %v: tensor<2x4x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x6x4xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 6 causal alibi 1 : tensor<2x4x12xf32>, tensor<2x4x12xf32>, tensor<2x4x6xf32>
  return %out, %lse : tensor<2x4x6xf32>, tensor<2x6x4xf32>
}
func.func @alibi_softcap_in_window(%q: tensor<1x3x8xf32>, %k: tensor<1x5x4xf32>, %v: tensor<1x5x4xf32>) -> tensor<1x3x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal scale 0.7 softcap 0.5 window 3 alibi 0.5 : tensor<1x3x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  return %out : tensor<1x3x8xf32>
}
func.func @sinks(%q: tensor<2x4x4xf32>, %k: tensor<2x4x4xf32>, %v: tensor<2x4x4xf32>, %sinks: tensor<2xf32>) -> (tensor<2x4x4xf32>, tensor<2x2x4xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal window 2 sinks %sinks : tensor<2xf32> : tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
  return %out, %lse : tensor<2x4x4xf32>, tensor<2x2x4xf32>
}
// Query 0 precedes every key and sees its sink alone.
func.func @sinks_of_few_keys(%q: tensor<1x3x2xf32>, %k: tensor<1x2x2xf32>, %v: tensor<1x2x4xf32>, %sinks: tensor<2xf32>) -> (tensor<1x3x4xf32>, tensor<1x2x3xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal sinks %sinks : tensor<2xf32> : tensor<1x3x2xf32>, tensor<1x2x2xf32>, tensor<1x2x4xf32>
  return %out, %lse : tensor<1x3x4xf32>, tensor<1x2x3xf32>
}
func.func @dropout(%q: tensor<2x6x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x4xf32>,
                   %key: tensor<4xi32> {check.values = dense<[11, 16777215, 5, 3]> : tensor<4xi32>}) -> (tensor<2x6x4xf32>, tensor<2x2x6xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 causal dropout 0.3 dropout_key %key : tensor<4xi32> : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>
  return %out, %lse : tensor<2x6x4xf32>, tensor<2x2x6xf32>
}
func.func @all_forms(%q: tensor<1x5x8xf32>, %k: tensor<1x5x4xf32>, %v: tensor<1x5x4xf32>, %sinks: tensor<4xf32>,
                     %segments: tensor<1x5xi32> {check.values = dense<[[0, 0, 0, 1, 1]]> : tensor<1x5xi32>},
                     %key: tensor<4xi32> {check.values = dense<[1, 2, 3, 4]> : tensor<4xi32>}) -> tensor<1x5x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal window 4 softcap 2 alibi 0.25 dropout 0.5 segments %segments : tensor<1x5xi32> sinks %sinks : tensor<4xf32> dropout_key %key : tensor<4xi32> : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  return %out : tensor<1x5x8xf32>
}
func.func @bias(%q: tensor<2x3x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x4xf32>, %bias: tensor<2x5xf32>) -> (tensor<2x3x4xf32>, tensor<2x2x3xf32>) {
  %out, %lse = nn.attention %q, %k, %v heads 2 bias %bias : tensor<2x5xf32> : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %out, %lse : tensor<2x3x4xf32>, tensor<2x2x3xf32>
}
// Biases of more distances than there are.
func.func @causal_bias_of_few_queries(%q: tensor<1x2x8xf32>, %k: tensor<1x4x4xf32>, %v: tensor<1x4x4xf32>, %bias: tensor<4x11xf32>) -> tensor<1x2x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal scale 1 bias %bias : tensor<4x11xf32> : tensor<1x2x8xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>
  return %out : tensor<1x2x8xf32>
}
func.func @bias_of_few_keys(%q: tensor<1x4x2xf32>, %k: tensor<1x2x2xf32>, %v: tensor<1x2x2xf32>, %bias: tensor<1x7xf32>) -> tensor<1x4x2xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 1 bias %bias : tensor<1x7xf32> : tensor<1x4x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>
  return %out : tensor<1x4x2xf32>
}
func.func @bias_among_all_forms(%q: tensor<1x5x8xf32>, %k: tensor<1x5x4xf32>, %v: tensor<1x5x4xf32>, %sinks: tensor<4xf32>, %bias: tensor<4x9xf32>,
                     %segments: tensor<1x5xi32> {check.values = dense<[[0, 0, 0, 1, 1]]> : tensor<1x5xi32>},
                     %key: tensor<4xi32> {check.values = dense<[1, 2, 3, 4]> : tensor<4xi32>}) -> tensor<1x5x8xf32> {
  %out, %lse = nn.attention %q, %k, %v heads 4 kv_heads 2 causal window 4 softcap 2 alibi 0.25 dropout 0.5 segments %segments : tensor<1x5xi32> sinks %sinks : tensor<4xf32> dropout_key %key : tensor<4xi32> bias %bias : tensor<4x9xf32> : tensor<1x5x8xf32>, tensor<1x5x4xf32>, tensor<1x5x4xf32>
  return %out : tensor<1x5x8xf32>
}
// A key of zeros drops nothing and scales nothing.
func.func @dropout_of_zeros(%q: tensor<1x2x1xf32> {check.values = dense<0.0> : tensor<1x2x1xf32>},
                            %k: tensor<1x2x1xf32> {check.values = dense<0.0> : tensor<1x2x1xf32>},
                            %v: tensor<1x2x1xf32> {check.values = dense<[[[1.0], [3.0]]]> : tensor<1x2x1xf32>},
                            %key: tensor<4xi32> {check.values = dense<0> : tensor<4xi32>})
    -> (tensor<1x2x1xf32> {check.expect = dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>}) {
  %out, %lse = nn.attention %q, %k, %v heads 1 causal dropout 0.9 dropout_key %key : tensor<4xi32> : tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>
  return %out : tensor<1x2x1xf32>
}

// Query 0 precedes every key and sees none: zeros, and a log-sum-exp of minus infinity.
func.func @sees_no_key(%q: tensor<1x2x1xf32> {check.values = dense<1.0> : tensor<1x2x1xf32>},
                       %k: tensor<1x1x1xf32> {check.values = dense<3.0> : tensor<1x1x1xf32>},
                       %v: tensor<1x1x1xf32> {check.values = dense<5.0> : tensor<1x1x1xf32>})
    -> (tensor<1x2x1xf32> {check.expect = dense<[[[0.0], [5.0]]]> : tensor<1x2x1xf32>},
        tensor<1x1x2xf32> {check.expect = dense<[[[0xFF800000, 3.0]]]> : tensor<1x1x2xf32>})
    attributes {check.no_gradients = "the log-sum-exp is infinite"} {
  %out, %lse = nn.attention %q, %k, %v heads 1 causal : tensor<1x2x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>
  return %out, %lse : tensor<1x2x1xf32>, tensor<1x1x2xf32>
}

// A cache of four keys, of which the query at position 1 sees two: scores 0 and 0.
func.func @limit(%q: tensor<1x1x1xf32> {check.values = dense<0.0> : tensor<1x1x1xf32>},
                 %k: tensor<1x4x1xf32> {check.values = dense<1.0> : tensor<1x4x1xf32>},
                 %v: tensor<1x4x1xf32> {check.values = dense<[[[1.0], [3.0], [100.0], [100.0]]]> : tensor<1x4x1xf32>},
                 %limit: tensor<i32> {check.values = dense<1> : tensor<i32>})
    -> (tensor<1x1x1xf32> {check.expect = dense<2.0> : tensor<1x1x1xf32>})
    attributes {check.no_gradients = "generation only"} {
  %out, %lse = nn.attention %q, %k, %v heads 1 limit %limit : tensor<i32> : tensor<1x1x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>
  return %out : tensor<1x1x1xf32>
}

// The same with a limit for each sequence: the second sees three keys.
func.func @limits_of_sequences(%q: tensor<2x1x1xf32> {check.values = dense<0.0> : tensor<2x1x1xf32>},
                 %k: tensor<2x4x1xf32> {check.values = dense<1.0> : tensor<2x4x1xf32>},
                 %v: tensor<2x4x1xf32> {check.values = dense<[[[1.0], [3.0], [100.0], [100.0]], [[1.0], [3.0], [8.0], [100.0]]]> : tensor<2x4x1xf32>},
                 %limit: tensor<2xi32> {check.values = dense<[1, 2]> : tensor<2xi32>})
    -> (tensor<2x1x1xf32> {check.expect = dense<[[[2.0]], [[4.0]]]> : tensor<2x1x1xf32>})
    attributes {check.no_gradients = "generation only"} {
  %out, %lse = nn.attention %q, %k, %v heads 1 limit %limit : tensor<2xi32> : tensor<2x1x1xf32>, tensor<2x4x1xf32>, tensor<2x4x1xf32>
  return %out : tensor<2x1x1xf32>
}

// The query at position 1 is one position after the first key and at the second: biases log 3 and 0 of equal scores.
func.func @limit_and_bias(%q: tensor<1x1x1xf32> {check.values = dense<0.0> : tensor<1x1x1xf32>},
                          %k: tensor<1x4x1xf32> {check.values = dense<1.0> : tensor<1x4x1xf32>},
                          %v: tensor<1x4x1xf32> {check.values = dense<[[[1.0], [5.0], [100.0], [100.0]]]> : tensor<1x4x1xf32>},
                          %bias: tensor<1x7xf32> {check.values = dense<[[9.0, 9.0, 9.0, 0.0, 1.0986122886681098, 9.0, 9.0]]> : tensor<1x7xf64>},
                          %limit: tensor<i32> {check.values = dense<1> : tensor<i32>})
    -> (tensor<1x1x1xf32> {check.expect = dense<2.0> : tensor<1x1x1xf32>})
    attributes {check.no_gradients = "generation only"} {
  %out, %lse = nn.attention %q, %k, %v heads 1 limit %limit : tensor<i32> bias %bias : tensor<1x7xf32> : tensor<1x1x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>
  return %out : tensor<1x1x1xf32>
}

// The same query with a window of one key.
func.func @limit_and_window(%q: tensor<1x1x1xf32> {check.values = dense<0.0> : tensor<1x1x1xf32>},
                            %k: tensor<1x4x1xf32> {check.values = dense<1.0> : tensor<1x4x1xf32>},
                            %v: tensor<1x4x1xf32> {check.values = dense<[[[1.0], [3.0], [100.0], [100.0]]]> : tensor<1x4x1xf32>},
                            %limit: tensor<i32> {check.values = dense<1> : tensor<i32>})
    -> (tensor<1x1x1xf32> {check.expect = dense<3.0> : tensor<1x1x1xf32>})
    attributes {check.no_gradients = "generation only"} {
  %out, %lse = nn.attention %q, %k, %v heads 1 window 1 limit %limit : tensor<i32> : tensor<1x1x1xf32>, tensor<1x4x1xf32>, tensor<1x4x1xf32>
  return %out : tensor<1x1x1xf32>
}
