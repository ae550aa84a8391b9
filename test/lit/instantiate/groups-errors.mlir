// RUN: trainc-opt %s --instantiate -verify-diagnostics

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "b" %x to 2
  %s = nn.square %y
  nn.loss "loss" %s
}
// expected-error @+1 {{group "a.*" matches no parameter of model @m; `*` stands for any text}}
train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 group "a.*" frozen }
