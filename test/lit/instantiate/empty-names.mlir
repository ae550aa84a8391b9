// RUN: trainc-opt %s --instantiate | FileCheck %s

// A layer without a name adds nothing to its parameters' names.
nn.block @layer(%x: tensor<?x4xf32>) {
  %l = nn.linear "" %x to 4
  nn.return %l
}
nn.model @m(%x: tensor<?x4xf32>) {
  %a = nn.apply @layer "deep" (%x)
  %b = nn.apply @layer "" (%a)
  nn.loss "loss" %b
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK: train.state parameter @deep.weight : tensor<4x4xf32>
// CHECK: train.state parameter @deep.bias : tensor<4xf32>
// CHECK: train.state parameter @weight : tensor<4x4xf32>
// CHECK: train.state parameter @bias : tensor<4xf32>
