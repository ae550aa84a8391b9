// RUN: trainc-opt %s -verify-diagnostics -split-input-file

nn.model @m(%x: tensor<?xf32>) {
  // expected-error @below {{there is no nn.block named @missing}}
  %y = nn.apply @missing "a" (%x)
}

// -----

// expected-note @below {{the block is here}}
nn.block @b(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  nn.return %x
}
nn.model @m(%x: tensor<?xf32>) {
  // expected-error @below {{block @b takes 2 arguments, found 1}}
  %y = nn.apply @b "a" (%x)
}

// -----

// expected-note @below {{the block is here}}
nn.block @b(%x: tensor<?xf32>) {
  nn.return %x
}
nn.model @m(%x: tensor<?xf32>) {
  // expected-error @below {{block @b returns 1 values, found 2}}
  %y, %z = nn.repeat @b "a" times 2 (%x)
}

// -----

nn.block @b(%x: tensor<?xf32>) {
  nn.return %x
}
nn.model @m(%x: tensor<?xf32>) {
  // expected-error @below {{times must lie between 1 and 100000, found 0}}
  %y = nn.repeat @b "a" times 0 (%x)
}

// -----

nn.block @b(%x: tensor<?xf32>) {
  nn.return %x, %x
}
nn.model @m(%x: tensor<?xf32>) {
  // expected-error @below {{the block's 2 results must feed its first arguments, but it has 1}}
  %y, %z = nn.repeat @b "a" times 2 (%x)
}

// -----

// expected-error @below {{must end in nn.return}}
nn.block @b(%x: tensor<?xf32>) {
}

// -----

nn.model @m(%x: tensor<?xf32>) {
  // expected-error @below {{belongs into an nn.block; a model names its results with nn.output and nn.loss}}
  nn.return %x
}

// -----

// expected-error @below {{argument 0 must be a ranked tensor, found 'f32'}}
nn.block @b(%x: f32) {
  nn.return %x
}

// -----

// expected-error @below {{column 'x' is 'tensor<8xf32>'; its first dimension is the batch and must be `?`}}
nn.model @m(%x: tensor<8xf32>) {
}

// -----

// expected-error @below {{column 'x' is 'tensor<?x?x?xf32>'; expected at most two open dimensions: batch and sequence length}}
nn.model @m(%x: tensor<?x?x?xf32>) {
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{needs its number of outputs (`to N`) or a weight to share (`tied "name"`)}}
  %y = nn.linear "fc" %x
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a tied weight is [out, in], so `layout in_out` cannot be}}
  %y = nn.linear "fc" %x tied "wte.weight" layout in_out
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a tied weight starts where it is declared, so `init` has no effect here}}
  %y = nn.linear "fc" %x tied "wte.weight" init zeros
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{unknown initialiser 'xavier'; expected zeros, ones, constant(v), normal(std) or uniform(low, high)}}
  %y = nn.linear "fc" %x to 4 init xavier
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{p must be at least 0 and below 1, found 1.5}}
  %y = nn.dropout "d" %x p 1.5
}

// -----

nn.model @m(%x: tensor<?xi32>) {
  // expected-error @below {{the table must have at least one row and one column, found 0 by 4}}
  %y = nn.embedding "e" %x of 0 by 4
}

// -----

nn.model @m(%x: tensor<?xf32>) {
  // expected-error @below {{needs a name, e.g. nn.loss "loss" %nll}}
  nn.loss "" %x
}
