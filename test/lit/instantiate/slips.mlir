// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

// Rope's heads are another number than those of attention. Several uses of a block have one warning.
nn.block @layer(%x: tensor<?x?x8xf32>, %positions: tensor<?xi32>) {
  %k = nn.linear "k" %x to 4
  // expected-note @below {{nn.rope is here}}
  %q = nn.rope %x positions %positions heads 2 theta 500
  // expected-note @below {{nn.rope is here}}
  %r = nn.rope %k positions %positions heads 1 theta 500
  // expected-warning @below {{operand q has 4 heads here, but nn.rope rotates 2; give nn.rope `heads 4`}}
  // expected-warning @below {{operand k has 2 heads here, but nn.rope rotates 1; give nn.rope `heads 2`}}
  %a, %lse = nn.attention %q, %r, %k heads 4 kv_heads 2
  nn.return %a
}
nn.model @m(%x: tensor<?x?x8xf32>, %positions: tensor<?x?xi32>) {
  %p = nn.positions %positions
  %h = nn.repeat @layer "h" times 2 (%x, %p)
  nn.loss "loss" %h
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

// Nothing reads the labels.
// expected-warning @below {{nothing in the model reads the column 'labels'; use %labels, or remove it from the model's arguments}}
nn.model @m(%x: tensor<?x4xf32>, %labels: tensor<?xi32>) {
  %y = nn.linear "y" %x to 4
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// Two attentions with one key drop the same weights. The third has a key of its own, and the fourth drops nothing.
nn.block @layer(%x: tensor<?x?x8xf32>) {
  %key = nn.dropout_key "both"
  %other_key = nn.dropout_key "other"
  // expected-note @below {{the other attention is here}}
  %a, %lse = nn.attention %x, %x, %x heads 2 causal dropout 0.1 dropout_key %key
  // expected-warning @below {{this attention drops the same weights as another attention, because both have the same dropout_key; give each attention a key of its own with nn.dropout_key}}
  %b, %lse1 = nn.attention %a, %a, %a heads 2 causal dropout 0.1 dropout_key %key
  %c, %lse2 = nn.attention %b, %b, %b heads 2 causal dropout 0.1 dropout_key %other_key
  %d, %lse3 = nn.attention %c, %c, %c heads 2 causal dropout 0 dropout_key %other_key
  %y = nn.linear "y" %d to 8
  nn.return %y
}
nn.model @m(%x: tensor<?x?x8xf32>) {
  %h = nn.repeat @layer "h" times 2 (%x)
  nn.loss "loss" %h
}
train.program @p { model @m optimizer sgd batch 2 x 4 }

// -----

// A key that is made outside of a block is that of all its uses.
nn.block @layer(%x: tensor<?x?x8xf32>, %key: tensor<4xi32>) {
  // expected-warning @below {{this attention drops the same weights as the same attention of another use of its block, because both have the same dropout_key; give each attention a key of its own with nn.dropout_key in the block}}
  %a, %lse = nn.attention %x, %x, %x heads 2 causal dropout 0.1 dropout_key %key
  %y = nn.linear "y" %a to 8
  nn.return %y
}
nn.model @m(%x: tensor<?x?x8xf32>) {
  %key = nn.dropout_key "all"
  %h = nn.repeat @layer "h" times 3 (%x, %key)
  nn.loss "loss" %h
}
train.program @p { model @m optimizer sgd batch 2 x 4 }
