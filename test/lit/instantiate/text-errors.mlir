// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

// Texts that MLIR accepts but that are no models.

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.neg' op has no setting 'foo'; remove it}}
  %y = nn.neg %x {foo = 1}
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.linear' op has no setting 'plan.launches'; remove it}}
  %y = nn.linear "l" %x to 4 {plan.launches = []}
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.neg %x
  nn.loss "loss" %y
}
// expected-error @below {{'train.program' op has no setting 'foo'; remove it}}
train.program @p attributes {foo} { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x6xf32>) {
  // expected-error @below {{'nn.product' op is made by the compiler, and is not allowed in a model's file; docs/reference/ops.md lists the ops of models}}
  %d = nn.product %x, %x
  nn.loss "loss" %d
}
train.program @p { model @m optimizer sgd batch 8 }

// -----

nn.model @m(%x: tensor<?x6xf32>) {
  // expected-error @below {{'nn.gelu_grad' op is made by the compiler}}
  %d = nn.gelu_grad %x at %x
  nn.loss "loss" %d
}
train.program @p { model @m optimizer sgd batch 8 }

// -----

// expected-error @below {{'func.func' op is not allowed in a model's file; expected nn.block, nn.model and train.program}}
func.func private @f()
nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.neg %x
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// expected-error @below {{'plan.arena' op is not allowed in a model's file}}
plan.arena @a bytes 1
nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.neg %x
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{parameter "q": 'tensor<8xf32, "enc">' has more than sizes and an element type; expected e.g. tensor<8xf32>}}
  %y = nn.parameter "q" tensor<8xf32, "enc">
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// expected-error @below {{argument 0 must be a ranked tensor of sizes and an element type, found 'tensor<?x4xf32, "enc">'}}
nn.model @m(%x: tensor<?x4xf32, "enc">) {
  nn.loss "loss" %x
}

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{a parameter needs a name, e.g. nn.parameter "gain" tensor<8xf32>}}
  %y = nn.parameter "" tensor<4xf32>
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.parameter' op 'name' must be UTF-8 text without control or invisible characters, found other bytes}}
  %y = nn.parameter "a\FF" tensor<4xf32>
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.linear' op 'name' must be UTF-8 text without control or invisible characters, found other bytes}}
  %y = nn.linear "a\n" %x to 4
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// The terminal's second set of control characters, here U+009B.
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.linear' op 'name' must be UTF-8 text without control or invisible characters, found other bytes}}
  %y = nn.linear "a\C2\9B" %x to 4
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @unknown {{'nn.neg' op 'loc' must be UTF-8 text without control or invisible characters, found other bytes}}
  %y = nn.neg %x loc("a\FF")
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

nn.block @b(%x: tensor<?x4xf32>) {
  nn.return %x
}
nn.model @m(%x: tensor<?x4xf32>) {
  // expected-error @below {{'nn.apply' op 'scope' must be UTF-8 text without control or invisible characters, found other bytes}}
  %y = nn.apply @b "\01" (%x)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// -----

// expected-error @below {{'nn.model' op 'sym_name' must be UTF-8 text without control or invisible characters, found other bytes}}
nn.model @"m\FF"(%x: tensor<?x4xf32>) {
  nn.loss "loss" %x
}
train.program @p { model @"m\FF" optimizer sgd batch 2 }

// -----

// expected-error @below {{'nn.model' op 'sym_name' must be UTF-8 text without control or invisible characters, found nothing}}
nn.model @""(%x: tensor<?x4xf32>) {
  nn.loss "loss" %x
}
train.program @p { model @"" optimizer sgd batch 2 }
