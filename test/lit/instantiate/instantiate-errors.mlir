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
// expected-error @below {{the size is missing: give --micro-batch, or write `batch B` in train.program}}
train.program @p { model @m optimizer sgd }

// -----

nn.model @m(%x: tensor<?x?xf32>) { nn.loss "loss" %x }
// expected-error @below {{the size is missing: give --seq-len, or write `batch B x T` in train.program}}
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
  // expected-error @below {{a parameter cannot be named 'loss', which names a part of the step; rename it}}
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
  // expected-error @below {{the model has more than 1000000 ops once its blocks are expanded; repeat fewer times}}
  %y = nn.relu %x
  nn.return %y
}
nn.block @outer(%x: tensor<?x4xf32>) {
  // expected-note @below {{in scope 'h.9.h.99989', applied here}}
  %y = nn.repeat @inner "h" times 100000 (%x)
  nn.return %y
}
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-note @below {{applied here}}
  %y = nn.repeat @outer "h" times 100 (%x)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }
