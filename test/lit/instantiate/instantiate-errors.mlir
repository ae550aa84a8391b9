// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

// expected-error @below {{no train.program in this file; expected e.g. `train.program @main}}
module {}

// -----

// expected-note @below {{the first is here}}
train.program @a { model @m optimizer sgd batch 2 }
// expected-error @below {{a second train.program; expected one in a file}}
train.program @b { model @m optimizer sgd batch 2 }

// -----

// expected-note @below {{there is nn.model @other}}
nn.model @other(%x: tensor<?xf32>) { nn.loss "loss" %x }
// expected-error @below {{no nn.model named @m}}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?xf32>) { nn.loss "loss" %x }
// expected-error @below {{the batch size is missing: give --micro-batch, or write `batch B` in train.program}}
train.program @p { model @m optimizer sgd }

// -----

nn.model @m(%x: tensor<?x?xf32>) { nn.loss "loss" %x }
// expected-error @below {{the sequence length is missing: give --seq-len, or write `batch B x T` in train.program}}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// expected-note @below {{the model is here}}
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-error @below {{a sequence length of 8 is given, but no column of the model has a second `?` dimension}}
train.program @p { model @m optimizer sgd batch 2 x 8 }

// -----

// expected-error @below {{the model has no nn.loss, so there is nothing to train for; expected e.g. `nn.loss "loss" %nll`}}
nn.model @m(%x: tensor<?xf32>) { nn.output "x" %x }
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-note @below {{the first declaration is here; give one of the two another name or scope}}
  %a = nn.linear "fc" %x to 4
  // expected-error @below {{parameter "fc.weight" is declared twice}}
  %b = nn.linear "fc" %a to 4
  nn.loss "loss" %b
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  %a = nn.linear "first" %x to 4
  // expected-error @below {{no parameter 'frist.weight' is declared before this; expected a full name from the model's root; did you mean 'first.weight'?}}
  %w = nn.use "frist.weight"
  nn.loss "loss" %a
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%ids: tensor<?x3xi32>) {
  %x = nn.embedding "wte" %ids of 10 by 4
  %y = nn.linear "up" %x to 6
  // expected-error @below {{the tied weight 'wte.weight' is 'tensor<10x4xf32>'; the input 'tensor<2x3x6xf32>' needs [out, 6]}}
  %z = nn.linear "head" %y tied "wte.weight"
  nn.loss "loss" %z
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter cannot be named 'loss', which is a reserved name; rename it}}
  %w = nn.parameter "loss" tensor<4xf32>
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>, %y: tensor<?x3xf32>) {
  // expected-error @below {{operands 'tensor<2x4xf32>', 'tensor<2x3xf32>' have no common shape: dimension 1 is 4 in one and 3 in another}}
  %z = nn.add %x, %y
  nn.loss "loss" %z
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// expected-note @below {{the block is here}}
nn.block @b(%x: tensor<?x8xf32>) {
  nn.return %x
}
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{argument 0 of block @b is declared 'tensor<?x8xf32>', found 'tensor<2x4xf32>': dimension 1 must be 8, found 4}}
  %y = nn.apply @b "b" (%x)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// An error inside a block says for which of its uses it holds.
nn.block @b(%x: tensor<?x?xf32>) {
  %up = nn.linear "up" %x to 6
  // expected-error @below {{operands 'tensor<2x6xf32>', 'tensor<2x4xf32>' have no common shape}}
  %y = nn.add %up, %x
  nn.return %y
}
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-note @below {{in scope 'h.0', applied here}}
  %y = nn.repeat @b "h" times 2 (%x)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.block @a(%x: tensor<?x4xf32>) {
  // expected-note @below {{in scope 'a.b', applied here}}
  %y = nn.apply @b "b" (%x)
  nn.return %y
}
nn.block @b(%x: tensor<?x4xf32>) {
  // expected-error @below {{block @a contains itself}}
  %y = nn.apply @a "a" (%x)
  nn.return %y
}
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-note @below {{in scope 'a', applied here}}
  %y = nn.apply @a "a" (%x)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%tokens: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  // expected-error @below {{sequences of 32 tokens exceed the 16 positions of this table}}
  %p = nn.embedding "wpe" %positions of 16 by 8
  nn.loss "loss" %p
}
train.program @p { model @m optimizer sgd batch 2 x 32 }

// -----

nn.model @m(%tokens: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %first = nn.constant 2 : tensor<i32>
  %rows = nn.add %positions, %first
  // expected-error @below {{sequences of 15 tokens exceed the 14 positions of this table}}
  %p = nn.embedding "wpe" %rows of 16 by 8
  nn.loss "loss" %p
}
train.program @p { model @m optimizer sgd batch 2 x 15 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  nn.loss "loss" %x
  // expected-error @below {{a second loss named 'loss'}}
  nn.loss "loss" %x
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  nn.output "x" %x
  // expected-error @below {{a second output named 'x'}}
  nn.output "x" %x
  nn.loss "loss" %x
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%ids: tensor<?xi32>) {
  // expected-error @below {{needs a float tensor, found 'tensor<2xi32>'}}
  nn.loss "loss" %ids
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%ids: tensor<?x3xi32>) {
  // expected-error @below {{needs a float input of at least 2 dimensions, found 'tensor<2x3xi32>'}}
  %y = nn.linear "fc" %ids to 4
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{needs ids of i32 or i64, found 'tensor<2x4xf32>'}}
  %y = nn.embedding "e" %x of 3 by 4
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%logits: tensor<?x5xf32>, %labels: tensor<?x2xi32>) {
  // expected-error @below {{labels 'tensor<2x2xi32>' must have the shape of the logits 'tensor<2x5xf32>' without the last dimension}}
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.block @inner(%x: tensor<?x4xf32>) {
  %y = nn.relu %x
  nn.return %y
}
nn.block @outer(%x: tensor<?x4xf32>) {
  %y = nn.repeat @inner "h" times 1000 (%x)
  nn.return %y
}
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{the model would have at least 300301 ops up to here once its blocks are expanded, and may have 100000: block @outer has 1001, applied here 300 times; apply it fewer times, or use fewer and wider layers}}
  %y = nn.repeat @outer "h" times 300 (%x)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// Each block is counted once: forty that use the next one twice are 2^40 of the last. The message is about the
// first that is too large by itself.
nn.block @b40(%x: tensor<?x4xf32>) {
  %y = nn.apply @b39 "a" (%x)
  %z = nn.apply @b39 "b" (%y)
  nn.return %z
}
nn.block @b39(%x: tensor<?x4xf32>) {
  %y = nn.apply @b38 "a" (%x)
  %z = nn.apply @b38 "b" (%y)
  nn.return %z
}
nn.block @b38(%x: tensor<?x4xf32>) {
  %y = nn.apply @b37 "a" (%x)
  %z = nn.apply @b37 "b" (%y)
  nn.return %z
}
nn.block @b37(%x: tensor<?x4xf32>) {
  %y = nn.apply @b36 "a" (%x)
  %z = nn.apply @b36 "b" (%y)
  nn.return %z
}
nn.block @b36(%x: tensor<?x4xf32>) {
  %y = nn.apply @b35 "a" (%x)
  %z = nn.apply @b35 "b" (%y)
  nn.return %z
}
nn.block @b35(%x: tensor<?x4xf32>) {
  %y = nn.apply @b34 "a" (%x)
  %z = nn.apply @b34 "b" (%y)
  nn.return %z
}
nn.block @b34(%x: tensor<?x4xf32>) {
  %y = nn.apply @b33 "a" (%x)
  %z = nn.apply @b33 "b" (%y)
  nn.return %z
}
nn.block @b33(%x: tensor<?x4xf32>) {
  %y = nn.apply @b32 "a" (%x)
  %z = nn.apply @b32 "b" (%y)
  nn.return %z
}
nn.block @b32(%x: tensor<?x4xf32>) {
  %y = nn.apply @b31 "a" (%x)
  %z = nn.apply @b31 "b" (%y)
  nn.return %z
}
nn.block @b31(%x: tensor<?x4xf32>) {
  %y = nn.apply @b30 "a" (%x)
  %z = nn.apply @b30 "b" (%y)
  nn.return %z
}
nn.block @b30(%x: tensor<?x4xf32>) {
  %y = nn.apply @b29 "a" (%x)
  %z = nn.apply @b29 "b" (%y)
  nn.return %z
}
nn.block @b29(%x: tensor<?x4xf32>) {
  %y = nn.apply @b28 "a" (%x)
  %z = nn.apply @b28 "b" (%y)
  nn.return %z
}
nn.block @b28(%x: tensor<?x4xf32>) {
  %y = nn.apply @b27 "a" (%x)
  %z = nn.apply @b27 "b" (%y)
  nn.return %z
}
nn.block @b27(%x: tensor<?x4xf32>) {
  %y = nn.apply @b26 "a" (%x)
  %z = nn.apply @b26 "b" (%y)
  nn.return %z
}
nn.block @b26(%x: tensor<?x4xf32>) {
  %y = nn.apply @b25 "a" (%x)
  %z = nn.apply @b25 "b" (%y)
  nn.return %z
}
nn.block @b25(%x: tensor<?x4xf32>) {
  %y = nn.apply @b24 "a" (%x)
  %z = nn.apply @b24 "b" (%y)
  nn.return %z
}
nn.block @b24(%x: tensor<?x4xf32>) {
  %y = nn.apply @b23 "a" (%x)
  %z = nn.apply @b23 "b" (%y)
  nn.return %z
}
nn.block @b23(%x: tensor<?x4xf32>) {
  %y = nn.apply @b22 "a" (%x)
  %z = nn.apply @b22 "b" (%y)
  nn.return %z
}
nn.block @b22(%x: tensor<?x4xf32>) {
  %y = nn.apply @b21 "a" (%x)
  %z = nn.apply @b21 "b" (%y)
  nn.return %z
}
nn.block @b21(%x: tensor<?x4xf32>) {
  %y = nn.apply @b20 "a" (%x)
  %z = nn.apply @b20 "b" (%y)
  nn.return %z
}
nn.block @b20(%x: tensor<?x4xf32>) {
  %y = nn.apply @b19 "a" (%x)
  %z = nn.apply @b19 "b" (%y)
  nn.return %z
}
nn.block @b19(%x: tensor<?x4xf32>) {
  %y = nn.apply @b18 "a" (%x)
  %z = nn.apply @b18 "b" (%y)
  nn.return %z
}
nn.block @b18(%x: tensor<?x4xf32>) {
  %y = nn.apply @b17 "a" (%x)
  %z = nn.apply @b17 "b" (%y)
  nn.return %z
}
nn.block @b17(%x: tensor<?x4xf32>) {
  %y = nn.apply @b16 "a" (%x)
  %z = nn.apply @b16 "b" (%y)
  nn.return %z
}
nn.block @b16(%x: tensor<?x4xf32>) {
  %y = nn.apply @b15 "a" (%x)
  // expected-error @below {{the model would have at least 196606 ops up to here once its blocks are expanded, and may have 100000: block @b15 has 98302, applied here 1 time; use fewer and wider layers}}
  %z = nn.apply @b15 "b" (%y)
  nn.return %z
}
nn.block @b15(%x: tensor<?x4xf32>) {
  %y = nn.apply @b14 "a" (%x)
  %z = nn.apply @b14 "b" (%y)
  nn.return %z
}
nn.block @b14(%x: tensor<?x4xf32>) {
  %y = nn.apply @b13 "a" (%x)
  %z = nn.apply @b13 "b" (%y)
  nn.return %z
}
nn.block @b13(%x: tensor<?x4xf32>) {
  %y = nn.apply @b12 "a" (%x)
  %z = nn.apply @b12 "b" (%y)
  nn.return %z
}
nn.block @b12(%x: tensor<?x4xf32>) {
  %y = nn.apply @b11 "a" (%x)
  %z = nn.apply @b11 "b" (%y)
  nn.return %z
}
nn.block @b11(%x: tensor<?x4xf32>) {
  %y = nn.apply @b10 "a" (%x)
  %z = nn.apply @b10 "b" (%y)
  nn.return %z
}
nn.block @b10(%x: tensor<?x4xf32>) {
  %y = nn.apply @b9 "a" (%x)
  %z = nn.apply @b9 "b" (%y)
  nn.return %z
}
nn.block @b9(%x: tensor<?x4xf32>) {
  %y = nn.apply @b8 "a" (%x)
  %z = nn.apply @b8 "b" (%y)
  nn.return %z
}
nn.block @b8(%x: tensor<?x4xf32>) {
  %y = nn.apply @b7 "a" (%x)
  %z = nn.apply @b7 "b" (%y)
  nn.return %z
}
nn.block @b7(%x: tensor<?x4xf32>) {
  %y = nn.apply @b6 "a" (%x)
  %z = nn.apply @b6 "b" (%y)
  nn.return %z
}
nn.block @b6(%x: tensor<?x4xf32>) {
  %y = nn.apply @b5 "a" (%x)
  %z = nn.apply @b5 "b" (%y)
  nn.return %z
}
nn.block @b5(%x: tensor<?x4xf32>) {
  %y = nn.apply @b4 "a" (%x)
  %z = nn.apply @b4 "b" (%y)
  nn.return %z
}
nn.block @b4(%x: tensor<?x4xf32>) {
  %y = nn.apply @b3 "a" (%x)
  %z = nn.apply @b3 "b" (%y)
  nn.return %z
}
nn.block @b3(%x: tensor<?x4xf32>) {
  %y = nn.apply @b2 "a" (%x)
  %z = nn.apply @b2 "b" (%y)
  nn.return %z
}
nn.block @b2(%x: tensor<?x4xf32>) {
  %y = nn.apply @b1 "a" (%x)
  %z = nn.apply @b1 "b" (%y)
  nn.return %z
}
nn.block @b1(%x: tensor<?x4xf32>) {
  %y = nn.apply @b0 "a" (%x)
  %z = nn.apply @b0 "b" (%y)
  nn.return %z
}
nn.block @b0(%x: tensor<?x4xf32>) {
  %y = nn.relu %x
  nn.return %y
}
nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.apply @b40 "" (%x)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// A block that contains itself and is too large besides.

nn.block @wide(%x: tensor<?x4xf32>) {
  %y = nn.relu %x
  %z = nn.relu %y
  nn.return %z
}
nn.block @itself(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{block @itself contains itself}}
  %y = nn.apply @itself "again" (%x)
  %z = nn.repeat @wide "w" times 90000 (%y)
  nn.return %z
}
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-note @+1 {{in scope 'a', applied here}}
  %y = nn.apply @itself "a" (%x)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x8xf32>) {
  // expected-error @below {{needs the number of tokens of a sample; expected a column with a second open dimension, such as tensor<?x?xi32>}}
  %b = nn.relative_bias "b" heads 2 buckets 32 max_distance 128
  nn.loss "l" %b
}
train.program @p { model @m  optimizer sgd  batch 2 }
