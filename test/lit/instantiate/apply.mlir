// RUN: trainc-opt %s --instantiate --canonicalize -split-input-file | FileCheck %s

// nn.apply has as many results as its block, whatever the number of arguments.

nn.block @two(%x: tensor<?x4xf32>) {
  %y = nn.linear "l" %x to 8
  %z = nn.neg %y
  nn.return %y, %z
}
nn.model @m(%x: tensor<?x4xf32>) {
  %p, %q = nn.apply @two "h" (%x)
  nn.loss "p" %p
  nn.loss "q" %q
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK: train.state parameter @h.l.weight
// CHECK: train.entry @micro_step
// CHECK: %[[P:.*]] = nn.add
// CHECK: %[[Q:.*]] = nn.neg %[[P]]
// CHECK: nn.reduce sum %[[P]]
// CHECK: nn.reduce sum %[[Q]]

// -----

nn.block @none() {
  %w = nn.parameter "w" tensor<4xf32> init ones
  nn.return %w
}
nn.model @m(%x: tensor<?x4xf32>) {
  %w = nn.apply @none "h" ()
  %y = nn.mul %x, %w
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK: train.entry @micro_step
// CHECK: %[[W:.*]] = train.get @h.w
// CHECK: nn.broadcast %[[W]]

// -----

nn.block @ten(%x: tensor<?x4xf32>) {
  %a = nn.neg %x
  nn.return %a, %a, %a, %a, %a, %a, %a, %a, %a, %x
}
nn.model @m(%x: tensor<?x4xf32>) {
  %w = nn.parameter "w" tensor<4xf32>
  %y = nn.mul %x, %w
  %a, %b, %c, %d, %e, %f, %g, %h, %i, %j = nn.apply @ten "h" (%y)
  nn.loss "loss" %j
  nn.loss "other" %i
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK: train.entry @micro_step
// CHECK: %[[Y:.*]] = nn.mul
// CHECK: %[[I:.*]] = nn.neg %[[Y]]
// CHECK: nn.reduce sum %[[Y]]
// CHECK: nn.reduce sum %[[I]]

// -----

// A block used again may have fewer results than arguments: the others stay.
nn.block @one(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) {
  %z = nn.sub %x, %y
  nn.return %z
}
nn.model @m(%x: tensor<?x4xf32>) {
  %w = nn.parameter "w" tensor<4xf32>
  %y = nn.mul %x, %w
  %z = nn.repeat @one "h" times 2 (%y, %x)
  nn.loss "loss" %z
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK: train.entry @micro_step
// CHECK: %[[X:.*]] = train.input
// CHECK: %[[Y:.*]] = nn.mul
// CHECK: %[[A:.*]] = nn.sub %[[Y]], %[[X]]
// CHECK: %[[B:.*]] = nn.sub %[[A]], %[[X]]
// CHECK: nn.reduce sum %[[B]]

// -----

// Several blocks take turns. Each has the scope of its place in the row.

nn.block @local(%x: tensor<?x4xf32>) {
  %y = nn.linear "l" %x to 4 no_bias
  nn.return %y
}
nn.block @global(%x: tensor<?x4xf32>) {
  %y = nn.linear "g" %x to 4 no_bias
  nn.return %y
}
nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.repeat @local, @local, @global "h" times 5 (%x)
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK: train.state parameter @h.0.l.weight
// CHECK-NEXT: train.state parameter @h.1.l.weight
// CHECK-NEXT: train.state parameter @h.2.g.weight
// CHECK-NEXT: train.state parameter @h.3.l.weight
// CHECK-NEXT: train.state parameter @h.4.l.weight
// CHECK-NOT: train.state parameter
