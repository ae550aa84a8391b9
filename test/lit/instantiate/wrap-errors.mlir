// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file -o /dev/null

// A unit is named after a block of the file, on one rank too.
nn.block @layer(%x: tensor<?x4xf32>) { nn.return %x }
nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.apply @layer "a" (%x)
  nn.loss "loss" %y
}
// expected-error @below {{wrap (--wrap): there is no block @layers; expected blocks or model alone, a number of parameters, or names of blocks; did you mean 'layer'?}}
train.program @p { model @m optimizer sgd batch 2 wrap "layer, layers" }

// -----

nn.block @layer(%x: tensor<?x4xf32>) { nn.return %x }
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
train.program @p { model @m optimizer sgd batch 2 wrap " layer" }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
train.program @p { model @m optimizer sgd batch 2 wrap "1000" }
