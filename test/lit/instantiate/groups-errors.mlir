// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "b" %x to 2
  %s = nn.square %y
  nn.loss "loss" %s
}
// expected-error @+1 {{group "a.*" matches no parameter of model @m; `*` stands for any text}}
train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 group "a.*" frozen }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "b" %x to 2
  nn.loss "loss" %y
}
// expected-warning @+1 {{the plan evaluates and does not train: all parameters are frozen, so that nothing is left to train; to train, leave some out of the groups, or add a later `group "NAME" trained`}}
train.program @p { model @m optimizer sgd batch 2 group "*" frozen }

// -----

// A model without parameters trains nothing either, as its loss says later on.
nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.neg %x
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }
