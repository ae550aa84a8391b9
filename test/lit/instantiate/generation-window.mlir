// RUN: trainc-opt %s --instantiate --canonicalize --split-input-file | FileCheck %s

// A cache of attention with a window has the rows of the window. The row of position p is p mod 4.

// CHECK:       train.state cache @cache.0 : tensor<1x4x8xf32>
// CHECK:       train.state cache @cache.1 : tensor<1x4x8xf32>
nn.model @lm(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %e = nn.embedding "e" %tokens of 40 by 8
  %a, %l = nn.attention %e, %e, %e heads 2 causal window 4
  %logits = nn.linear "head" %a to 40
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @lm optimizer sgd batch 2 x 16 }

// CHECK-LABEL: train.entry @prefill
// CHECK:         %[[LAST:.*]] = nn.gather %{{.*}} at %{{.*}} : tensor<16x8xf32>, tensor<4xi32>
// CHECK:         %[[KEYS:.*]] = nn.reshape %[[LAST]] to [1, 4, 8]
// CHECK:         train.set @cache.0, %[[KEYS]]
// CHECK:         nn.attention {{.*}} heads 2 window 4 limit %{{.*}} : tensor<i32> : tensor<1x16x8xf32>, tensor<1x16x8xf32>
// CHECK-LABEL: train.entry @decode
// CHECK:         %[[LIMIT:.*]] = nn.min %{{.*}}, %{{.*}} : tensor<i32>
// CHECK:         nn.attention {{.*}} heads 2 limit %[[LIMIT]] : tensor<i32> : tensor<1x1x8xf32>, tensor<1x4x8xf32>

// -----

// A window of the whole length, and a window whose scores have biases of positions, which depend on the order of rows.

// CHECK:       train.state cache @cache.0 : tensor<1x16x8xf32>
// CHECK:       train.state cache @cache.2 : tensor<1x16x8xf32>
// CHECK-LABEL: train.entry @decode
// CHECK:         nn.attention {{.*}} heads 2 limit %{{.*}} : tensor<i32> : tensor<1x1x8xf32>, tensor<1x16x8xf32>
// CHECK:         nn.attention {{.*}} heads 2 window 4 alibi 1 limit
nn.model @lm(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %e = nn.embedding "e" %tokens of 40 by 8
  %a, %l = nn.attention %e, %e, %e heads 2 causal window 20
  %b, %k = nn.attention %a, %a, %a heads 2 causal window 4 alibi 1
  %logits = nn.linear "head" %b to 40
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @lm optimizer sgd batch 2 x 16 }
