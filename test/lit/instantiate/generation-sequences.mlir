// RUN: trainc-opt %s --instantiate | FileCheck %s

// A sample has two sequences, each with a cache of the window's three rows.

// CHECK: train.state cache @cache.0 : tensor<2x3x4xf32>
// CHECK: train.entry @prefill
// CHECK: %[[begins:.*]] = nn.mul %{{.*}}, %{{.*}} : tensor<2x3xi32>
// CHECK: %[[rows:.*]] = nn.add %{{.*}}, %[[begins]] : tensor<2x3xi32>
// CHECK: nn.gather %{{.*}} at %[[rows]]
nn.model @several_sequences(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %parts = nn.reshape %x to [1, -1, 2, 4]
  %turned = nn.transpose %parts by [0, 2, 1, 3]
  %heads = nn.reshape %turned to [2, -1, 4]
  %a, %l = nn.attention %heads, %heads, %heads heads 1 causal window 3
  %back = nn.reshape %a to [1, 2, -1, 4]
  %rows = nn.transpose %back by [0, 2, 1, 3]
  %y = nn.reshape %rows to [1, -1, 8]
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @several { model @several_sequences optimizer sgd(lr 0.1) schedule constant batch 1 x 8 }
