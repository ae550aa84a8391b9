// RUN: trainc-opt %s --instantiate | FileCheck %s

// A group freezes the parameters that its pattern names; a later one has them trained again.

// CHECK-DAG: train.state parameter frozen @a.weight
// CHECK-DAG: train.state parameter @a.bias
// CHECK-DAG: train.state parameter @b.weight
nn.model @m(%x: tensor<?x4xf32>) {
  %h = nn.linear "a" %x to 4
  %y = nn.linear "b" %h to 2
  %s = nn.square %y
  nn.loss "loss" %s
}
train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2
  group "*" frozen
  group "*.bias" lr_scale 0.5 trained
  group "b.*" trained
}
