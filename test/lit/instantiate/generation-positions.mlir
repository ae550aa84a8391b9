// RUN: trainc-opt %s --instantiate --split-input-file | FileCheck %s

// Only counts along the sequence continue from the position of a token; counts along features start at zero for each
// token.
nn.model @lm(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %p = nn.embedding "p" %positions of 16 by 8
  %e = nn.embedding "e" %tokens of 40 by 8
  %features = nn.positions %e
  %number = nn.convert %features to f32
  %scaled = nn.mul %e, %number
  %x = nn.add %scaled, %p
  %logits = nn.linear "head" %x to 40
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @lm optimizer sgd batch 2 x 16 }

// CHECK-LABEL: train.entry @prefill
// CHECK:         nn.positions %{{.*}} from %{{.*}} : tensor<i32> : tensor<1x16xi32>
// CHECK:         nn.positions %{{[0-9]+}} : tensor<1x16x8xf32>
// CHECK-LABEL: train.entry @decode
// CHECK:         nn.positions %{{.*}} from %{{.*}} : tensor<i32> : tensor<1x1xi32>
// CHECK:         nn.positions %{{[0-9]+}} : tensor<1x1x8xf32>

// -----

// A batch of one sample has no others: what is combined over it is what one sample gives.
nn.model @lm(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %e = nn.embedding "e" %tokens of 40 by 8
  %mean = nn.reduce mean %e over [0] keep
  %logits = nn.linear "head" %mean to 40
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @lm optimizer sgd batch 1 x 16 }

// CHECK-LABEL: train.entry @prefill
// CHECK-LABEL: train.entry @decode

// -----

// The column `positions` counts the tokens of each text in a row. A generated text counts from 0.
nn.model @lm(%tokens: tensor<?x?xi32>, %segments: tensor<?x?xi32>, %positions: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %p = nn.embedding "p" %positions of 16 by 8
  %e = nn.embedding "e" %tokens of 40 by 8
  %s = nn.add %e, %p
  %r = nn.rope %s positions %positions heads 2 theta 10000
  %x, %lse = nn.attention %r, %r, %s heads 2 causal segments %segments
  %logits = nn.linear "head" %x to 40
  nn.output "logits" %logits
  %nll, %l = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @lm optimizer sgd batch 2 x 16 }

// CHECK-LABEL: train.entry @eval
// CHECK:         train.input "positions" micro limit 16
// CHECK-LABEL: train.entry @prefill
// CHECK:         %[[FIRST:.*]] = nn.constant 0 : tensor<i32>
// CHECK-NOT:     train.input "positions"
// CHECK:         %[[COUNT:.*]] = nn.iota 1 : tensor<1x16xi32>
// CHECK:         %[[FROM:.*]] = nn.broadcast %[[FIRST]] {{.*}}: tensor<i32>
// CHECK:         %[[POSITIONS:.*]] = nn.add %[[COUNT]], %[[FROM]] : tensor<1x16xi32>
// CHECK:         nn.rope %{{.*}} positions %[[POSITIONS]]
// CHECK-LABEL: train.entry @decode
// CHECK:         %[[POSITION:.*]] = train.get @position
// CHECK-NOT:     train.input "positions"
// CHECK:         %[[COUNT:.*]] = nn.iota 1 : tensor<1x1xi32>
// CHECK:         %[[FROM:.*]] = nn.broadcast %[[POSITION]]
// CHECK:         %[[POSITIONS:.*]] = nn.add %[[COUNT]], %[[FROM]] : tensor<1x1xi32>
// CHECK:         nn.rope %{{.*}} positions %[[POSITIONS]]
