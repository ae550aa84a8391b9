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
  nn.return %x
}
nn.model @m(%x: tensor<?xf32>) {
  // expected-error @below {{expected integer value}}
  %y = nn.repeat @b "a" times true (%x)
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

// expected-error @below {{argument 0 must be a ranked tensor of sizes and an element type, found 'f32'}}
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
  // expected-error @below {{init: expected zeros, ones, constant(v), normal(std) or uniform(low, high), found 'xavier'}}
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

nn.model @m(%x: tensor<?x?xi32>) {
  // expected-error @below {{the number of heads must be at least 1, found 0}}
  %y = nn.relative_bias "b" heads 0 buckets 32 max_distance 128
}

// -----

nn.model @m(%x: tensor<?x?xi32>) {
  // expected-error @below {{the number of buckets must be even and from 4 to 4096, found 33}}
  %y = nn.relative_bias "b" heads 2 buckets 33 max_distance 128
}

// -----

nn.model @m(%x: tensor<?x?xi32>) {
  // expected-error @below {{the number of buckets must be from 2 to 4096, found 1}}
  %y = nn.relative_bias "b" heads 2 buckets 1 max_distance 128 causal
}

// -----

nn.model @m(%x: tensor<?x?xi32>) {
  // expected-error @below {{max_distance must be above the 16 distances with buckets of their own, found 16}}
  %y = nn.relative_bias "b" heads 2 buckets 32 max_distance 16 causal
}

// -----

nn.model @m(%x: tensor<?x?xi32>) {
  // expected-error @below {{max_distance must be at most 2147483647, found 1000000000000}}
  %y = nn.relative_bias "b" heads 2 buckets 32 max_distance 1000000000000
}

// -----

nn.model @m(%x: tensor<?xf32>) {
  // expected-error @below {{needs a name, e.g. nn.loss "loss" %nll}}
  nn.loss "" %x
}

// -----

nn.model @m(%x: tensor<?xf32>) {
  // expected-error @below {{scale must be a finite number, found inf}}
  nn.loss "loss" %x scale 0x7FF0000000000000
}

// -----

nn.block @b(%x: tensor<?xf32>) {
  // expected-error @below {{must be the last op of its block}}
  nn.return %x
  %y = nn.exp %x
  nn.return %y
}

// -----

// expected-error @below {{has two columns named "x"}}
"nn.model"() <{argument_types = [tensor<?xf32>, tensor<?xf32>], columns = ["x", "x"], sym_name = "m"}> ({
^bb0(%a: !nn.deferred, %b: !nn.deferred):
}) : () -> ()

// -----

// expected-error @below {{has 1 arguments but 2 column names}}
"nn.model"() <{argument_types = [tensor<?xf32>], columns = ["x", "y"], sym_name = "m"}> ({
^bb0(%a: !nn.deferred):
}) : () -> ()

// -----

// expected-error @below {{has 1 arguments but 2 argument types}}
"nn.model"() <{argument_types = [tensor<?xf32>, tensor<?xf32>], columns = ["x"], sym_name = "m"}> ({
^bb0(%a: !nn.deferred):
}) : () -> ()

// -----

// expected-error @below {{'export "a.json"' is given twice}}
nn.model @m(%x: tensor<?xf32>) export "a.json" {n = 1} export "a.json" {n = 2} {
}

// -----

// expected-error @below {{export: expected a plain file name of at most 255 bytes, found "../a.json"}}
nn.model @m(%x: tensor<?xf32>) export "../a.json" {n = 1} {
}

// -----

// expected-error @below {{export: expected a plain file name of at most 255 bytes, found ""}}
nn.model @m(%x: tensor<?xf32>) export "" {n = 1} {
}

// -----

// expected-error @below {{export: expected a plain file name of at most 255 bytes, found ".hidden"}}
nn.model @m(%x: tensor<?xf32>) export ".hidden" {n = 1} {
}

// -----

// expected-error @below {{export: expected a plain file name}}
nn.model @m(%x: tensor<?xf32>) export "a\0Ab" {n = 1} {
}

// -----

// expected-error @below {{export: expected a plain file name}}
nn.model @m(%x: tensor<?xf32>) export "a\FFb" {n = 1} {
}

// -----

// expected-error @below {{export: checkpoints write "model.safetensors" themselves; choose another name}}
nn.model @m(%x: tensor<?xf32>) export "model.safetensors" {n = 1} {
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{init normal: the standard deviation must be 0 or more, found -1}}
  %y = nn.linear "fc" %x to 4 init normal(-1)
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{init normal: expected finite numbers}}
  %y = nn.linear "fc" %x to 4 init normal(0x7FF8000000000000)
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{init uniform: expected (low, high), found 1 above 0}}
  %y = nn.linear "fc" %x to 4 init uniform(1, 0)
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{expected an exponent, found 'e3x'}}
  %y = nn.dropout "d" %x p 1e3x
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{expected a number}}
  %y = nn.dropout "d" %x p --3
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{the number of outputs must be at least 1, found 0}}
  %y = nn.linear "fc" %x to 0
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{the number of heads must be at least 1, found 0}}
  %y = nn.rms_norm "n" %x heads 0
}

// -----

nn.block @one(%x: tensor<?x4xf32>) {
  nn.return %x
}
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.repeat' op has 2 blocks, which take turns in 1 uses; expected 1 to 1 blocks}}
  %y = nn.repeat @one, @one "h" times 1 (%x)
}

// -----

nn.block @one(%x: tensor<?x4xf32>) {
  nn.return %x
}
// expected-note @below {{the block is here}}
nn.block @two(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) {
  nn.return %x
}
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.repeat' op block @two takes 2 arguments, found 1}}
  %y = nn.repeat @one, @two "h" times 2 (%x)
}
