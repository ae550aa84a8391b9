// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

// One key of an exported config.json that differs from the model.
nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  // expected-note @below {{the model's op is here}}
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": n_head is 2, but nn.attention has 4 heads; write n_head = 4 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {n_head = 2} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  // expected-note @below {{the model's op is here}}
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": n_heads is 2, but nn.attention has 4 heads; write n_heads = 4 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {n_heads = 2} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  // expected-note @below {{the model's op is here}}
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": num_heads is 2.5, but nn.attention has 4 heads; write num_heads = 4 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {num_heads = 2.5} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  // expected-note @below {{the model's op is here}}
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": num_attention_heads is "4", but nn.attention has 4 heads; write num_attention_heads = 4 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {num_attention_heads = "4"} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  // expected-note @below {{the model's op is here}}
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": num_key_value_heads is 4, but nn.attention has 2 heads of keys and values; write num_key_value_heads = 2 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {num_key_value_heads = 4} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  // expected-note @below {{the model's op is here}}
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": head_dim is 4, but the heads of nn.attention are 2 wide; write head_dim = 2 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {head_dim = 4} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  // expected-note @below {{the model's op is here}}
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": n_layer is 2, but the model has 3 nn.attention; write n_layer = 3 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {n_layer = 2} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  // expected-note @below {{the model's op is here}}
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": num_hidden_layers is true, but the model has 3 nn.attention; write num_hidden_layers = 3 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {num_hidden_layers = true} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  // expected-note @below {{the model's op is here}}
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": model_type is "gpt2", which scales scores by 1/sqrt(2), but nn.attention scales scores by 0.5; write another model_type, or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {model_type = "gpt2"} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": n_embd is 16, but the table of tokens is 8 wide; write n_embd = 8 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {n_embd = 16} {
  %positions = nn.positions %tokens
  // expected-note @below {{the model's op is here}}
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": hidden_size is 16, but the table of tokens is 8 wide; write hidden_size = 8 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {hidden_size = 16} {
  %positions = nn.positions %tokens
  // expected-note @below {{the model's op is here}}
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": d_model is 16, but the table of tokens is 8 wide; write d_model = 8 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {d_model = 16} {
  %positions = nn.positions %tokens
  // expected-note @below {{the model's op is here}}
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": vocab_size is 17, but the table of tokens has 16 rows; write vocab_size = 16 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {vocab_size = 17} {
  %positions = nn.positions %tokens
  // expected-note @below {{the model's op is here}}
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": n_positions is 5, but the table of positions has 4 rows; write n_positions = 4 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {n_positions = 5} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  // expected-note @below {{the model's op is here}}
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": n_ctx is 5, but the table of positions has 4 rows; write n_ctx = 4 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {n_ctx = 5} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  // expected-note @below {{the model's op is here}}
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": max_position_embeddings is 5, but the table of positions has 4 rows; write max_position_embeddings = 4 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {max_position_embeddings = 5} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  // expected-note @below {{the model's op is here}}
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  // expected-note @below {{the model's op is here}}
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": layer_norm_epsilon is 1.0e-05, but the norm has eps 0.001; write layer_norm_epsilon = 0.001 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {layer_norm_epsilon = 1.0e-5} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  // expected-note @below {{the model's op is here}}
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": layer_norm_eps is 1.0e-05, but the norm has eps 0.001; write layer_norm_eps = 0.001 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {layer_norm_eps = 1.0e-5} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  // expected-note @below {{the model's op is here}}
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": rms_norm_eps is 1.0e-05, but the norm has eps 0.001; write rms_norm_eps = 0.001 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {rms_norm_eps = 1.0e-5} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  // expected-note @below {{the model's op is here}}
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": rope_theta is 10000, but nn.rope has theta 500; write rope_theta = 500.0 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {rope_theta = 10000} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  // expected-note @below {{the model's op is here}}
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": rope_parameters.rope_theta is 10000.0, but nn.rope has theta 500; write rope_theta = 500.0 or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {rope_parameters = {rope_theta = 10000.0}} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  // expected-note @below {{the model's op is here}}
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": activation_function is "gelu_new", but nn.gelu computes "gelu"; write activation_function = "gelu" or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {activation_function = "gelu_new"} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  // expected-note @below {{the model's op is here}}
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": hidden_act is "relu", but nn.gelu computes "gelu"; write hidden_act = "gelu" or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {hidden_act = "relu"} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %n = nn.layer_norm "norm" %x eps 1e-3
  %k = nn.linear "k" %n to 4
  %r = nn.rope %k positions %positions heads 2 theta 500
  %a, %lse = nn.attention %n, %r, %k heads 4 kv_heads 2 causal scale 0.5
  %g = nn.gelu %a
  %y = nn.add %x, %g
  nn.return %y
}
// expected-error @below {{export "config.json": tie_word_embeddings is false, but the logits use the weight of an embedding; write tie_word_embeddings = true or change the model}}
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) export "config.json" {tie_word_embeddings = false} {
  %positions = nn.positions %tokens
  %t = nn.embedding "wte" %tokens of 16 by 8
  %p = nn.embedding "wpe" %positions of 4 by 8
  %x = nn.add %t, %p
  %h = nn.repeat @layer "h" times 3 (%x, %positions)
  // expected-note @below {{the model's op is here}}
  %logits = nn.linear "head" %h tied "wte.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

// The program may export the file instead, and a weight of the logits' own is not tied.
nn.model @m(%x: tensor<?x8xf32>) {
  // expected-note @below {{the model's op is here}}
  %logits = nn.linear "head" %x to 4 no_bias
  nn.output "logits" %logits
  nn.loss "loss" %logits
}
// expected-error @below {{export "config.json": tie_word_embeddings is true, but the logits have a weight of their own; write tie_word_embeddings = false or change the model}}
train.program @p { model @m optimizer sgd batch 2 export "config.json" {tie_word_embeddings = true} }

// -----

// expected-error @below {{export "config.json": hidden_act is "silu", but nn.gelu computes "gelu_new"; write hidden_act = "gelu_new" or change the model}}
nn.model @m(%x: tensor<?x8xf32>) export "config.json" {hidden_act = "silu"} {
  // expected-note @below {{the model's op is here}}
  %g = nn.gelu %x approximate tanh
  nn.loss "loss" %g
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// expected-error @below {{export "config.json": model_type is "llama", which has causal attention, but nn.attention is not causal; write another model_type, or change the model}}
nn.model @m(%x: tensor<?x?x8xf32>) export "config.json" {model_type = "llama"} {
  // expected-note @below {{the model's op is here}}
  %a, %lse = nn.attention %x, %x, %x heads 2
  nn.loss "loss" %a
}
train.program @p { model @m optimizer sgd batch 2 x 4 }
