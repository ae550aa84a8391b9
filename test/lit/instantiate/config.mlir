// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file | FileCheck %s

// Exports that agree with their model, in each way to write a number.
// CHECK: export "config.json"
nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.rms_norm "norm" %x eps 1e-3
  %q = nn.linear "q" %n to 8
  %k = nn.linear "k" %n to 4
  %v = nn.linear "v" %n to 4
  %qr = nn.rope %q positions %positions heads 4 theta 500
  %kr = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %qr, %kr, %v heads 4 kv_heads 2 causal
  %s = nn.silu %a
  %y = nn.add %x, %s
  nn.return %y
}
nn.model @llama(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {
    model_type = "llama", num_attention_heads = 4.0, num_key_value_heads = 2, num_hidden_layers = 3 : i32, hidden_size = 8,
    head_dim = 2, vocab_size = 16, max_position_embeddings = 4096, rms_norm_eps = 0.001 : f32, rope_theta = 500,
    rope_parameters = {rope_theta = 500.0}, hidden_act = "swish", tie_word_embeddings = false, num_heads} {
  %positions = nn.positions %tokens
  %x = nn.embedding "embed" %tokens of 16 by 8
  %h = nn.repeat @layer "layers" times 3 (%x, %positions)
  %n = nn.rms_norm "norm" %h eps 1e-3
  %logits = nn.linear "head" %n to 16 no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @llama optimizer sgd batch 2 x 4 }

// -----

// A model whose ops disagree, or show nothing, is not compared. Nor is an unknown activation.
// CHECK: export "config.json"
// expected-remark @below {{the logits depend on column 'kinds'}}
nn.model @mixed(%tokens: tensor<?x?xi32>, %kinds: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {
    model_type = "mixed", n_head = 3, n_embd = 4, layer_norm_eps = 0.5, vocab_size = 3, activation_function = "quick_gelu",
    rope_theta = 7, n_positions = 5, tie_word_embeddings = true} {
  %a = nn.embedding "a" %tokens of 16 by 4
  %b = nn.embedding "b" %kinds of 2 by 4
  %x = nn.add %a, %b
  %n1 = nn.layer_norm "n1" %x eps 1e-3
  %a1, %lse1 = nn.attention %n1, %n1, %n1 heads 1 causal
  %n2 = nn.layer_norm "n2" %a1
  %a2, %lse2 = nn.attention %n2, %n2, %n2 heads 2 causal scale 1.0
  %g = nn.gelu %a2
  // A bias hides which weight the logits use.
  %logits = nn.linear "head" %g to 16
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @mixed optimizer sgd batch 2 x 4 }

// -----

// GPT-2 has keys for another scale of scores.
// CHECK: export "config.json"
nn.model @unscaled(%x: tensor<?x?x8xf32>) export "config.json" {model_type = "gpt2", scale_attn_weights = false} {
  %a, %lse = nn.attention %x, %x, %x heads 2 causal scale 1.0
  nn.loss "loss" %a
}
train.program @p { model @unscaled optimizer sgd batch 2 x 4 }

// -----

// The attention of an encoder and of a decoder do not count as layers, and a scale has few digits.
// CHECK: export "config.json"
nn.model @pair(%x: tensor<?x?x8xf32>) export "config.json" {model_type = "llama", num_hidden_layers = 1} {
  %a, %lse = nn.attention %x, %x, %x heads 1 causal scale 0.35355
  %b, %lse2 = nn.attention %a, %x, %x heads 1 scale 0.35355
  nn.loss "loss" %b
}
train.program @p { model @pair optimizer sgd batch 2 x 4 }
