// RUN: trainc-opt %s --instantiate --split-input-file -verify-diagnostics | FileCheck %s

// An incomplete evaluation batch is filled up with samples that every loss ignores.
nn.model @m(%x: tensor<?x6x5xf32>, %labels: tensor<?x6xi32>, %kinds: tensor<?x6xi64>) {
  %nll, %lse = nn.cross_entropy %x, %labels ignore -7
  %flat = nn.reshape %kinds to [-1]
  %rows = nn.reshape %x to [-1, 5]
  %n, %l = nn.cross_entropy %rows, %flat
  nn.loss "main" %nll
  nn.loss "aux" %n
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK-LABEL: train.entry @micro_step
// CHECK: train.input "labels" micro limit 5 ignore -7 : tensor<2x6xi32>
// CHECK-LABEL: train.entry @eval
// CHECK: train.input "x" micro : tensor<2x6x5xf32>
// CHECK: train.input "labels" micro limit 5 ignore -7 pads : tensor<2x6xi32>
// CHECK: train.input "kinds" micro limit 5 ignore -100 pads : tensor<2x6xi64>

// -----

// Parts of a column, but not a column with zeros around it.
nn.model @m(%x: tensor<?x4x5xf32>, %labels: tensor<?x6xi32>) {
  %some = nn.slice %labels dim 1 from 1 size 4
  %nll, %lse = nn.cross_entropy %x, %some
  nn.loss "main" %nll
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK-LABEL: train.entry @eval
// CHECK: train.input "labels" micro limit 5 ignore -100 pads : tensor<2x6xi32>

// -----

// A loss of elements counts them all.
nn.model @m(%x: tensor<?x5xf32>, %labels: tensor<?xi32>) {
  %nll, %lse = nn.cross_entropy %x, %labels
  %z = nn.square %lse
  nn.loss "main" %nll
  nn.loss "z" %z
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK-LABEL: train.entry @eval
// CHECK: train.input "labels" micro limit 5 ignore -100 : tensor<2xi32>

// -----

// So does one whose labels are looked up elsewhere as well, where nothing is ignored.
nn.model @m(%x: tensor<?x5xf32>, %labels: tensor<?xi32>) {
  %e = nn.embedding "e" %labels of 5 by 5
  %y = nn.add %x, %e
  %nll, %lse = nn.cross_entropy %y, %labels
  nn.loss "main" %nll
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK-LABEL: train.entry @eval
// CHECK: train.input "labels" micro limit 5 ignore 0 : tensor<2xi32>

// -----

// The mean over the batch would include the padding, which would change the loss of every sample.
nn.model @m(%x: tensor<?x5xf32>, %labels: tensor<?xi32>) {
  // expected-remark @below {{evaluation leaves out the samples of an incomplete last batch: samples of a batch are combined here, so that padding would change their losses}}
  %mean = nn.reduce mean %x over [0]
  %centred = nn.sub %x, %mean
  %nll, %lse = nn.cross_entropy %centred, %labels
  nn.loss "main" %nll
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK-LABEL: train.entry @eval
// CHECK: train.input "labels" micro limit 5 ignore -100 : tensor<2xi32>

// -----

// Attention keeps samples apart.
nn.model @m(%x: tensor<?x6x4xf32>, %labels: tensor<?x6xi32>) {
  %positions = nn.positions %labels
  %r = nn.rope %x positions %positions heads 1 theta 100
  %a, %l = nn.attention %r, %r, %x heads 1
  %nll, %lse = nn.cross_entropy %a, %labels
  nn.loss "main" %nll
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK-LABEL: train.entry @eval
// CHECK: train.input "labels" micro limit 4 ignore -100 pads : tensor<2x6xi32>

// -----

// A batch of one is never incomplete.
nn.model @m(%x: tensor<?x5xf32>, %labels: tensor<?xi32>) {
  // expected-warning @+1 {{samples of a batch are combined here: the loss of evaluation is that of batches of 1 samples, and training's that of 2}}
  %mean = nn.reduce mean %x over [0]
  %centred = nn.sub %x, %mean
  %nll, %lse = nn.cross_entropy %centred, %labels
  nn.loss "main" %nll
}
train.program @p { model @m optimizer sgd batch 2 eval_batch 1 }

// CHECK-LABEL: train.entry @eval
