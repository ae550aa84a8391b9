// RUN: trainc-opt %s --instantiate | FileCheck %s

// After the last attention prefill computes one position: of what follows the length of the sequence, not of what
// happens to be as large (%row).
// CHECK-LABEL: train.entry @prefill
// CHECK:         %[[SCALE:.*]] = train.get @scale
// CHECK:         %[[ROW:.*]] = nn.reshape %[[SCALE]] to [1, 8]
// CHECK:         %[[OUT:.*]], %{{.*}} = nn.attention
// CHECK:         %[[ROWS:.*]] = nn.reshape %[[OUT]] to [8, 8]
// CHECK:         %[[GATHERED:.*]] = nn.gather %[[ROWS]]
// CHECK:         %[[LAST:.*]] = nn.reshape %[[GATHERED]] to [1, 1, 8]
// CHECK:         %[[SCALES:.*]] = nn.broadcast %[[ROW]] to [1, 1, 8]
// CHECK:         nn.mul %[[LAST]], %[[SCALES]]
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "wte" %tokens of 10 by 8
  %scale = nn.parameter "scale" tensor<8xf32> init normal(0.1)
  %row = nn.reshape %scale to [1, 8]
  %a, %l = nn.attention %x, %x, %x heads 2 causal
  %y = nn.mul %a, %row
  %logits = nn.linear "head" %y to 10
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @m optimizer sgd(lr 0.1) schedule constant batch 2 x 8 }
