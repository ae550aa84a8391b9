// RUN: trainc-opt %s --instantiate --split-input-file | FileCheck %s

// Three texts at once. `decode` reads a token of each: they are a row of the columns. In attention, each is the query
// of its own text. `prefill` reads one text, of the number `slot`, and replaces what the caches hold of it.

// CHECK-DAG: train.state scalar to_device @slot : tensor<i32>
// CHECK-DAG: train.state scalar to_device @position : tensor<3xi32>
// CHECK-DAG: train.state output @logits : tensor<3x40xf32>
// CHECK-DAG: train.state cache @cache.0 : tensor<3x16x8xf32>
// CHECK-DAG: train.state cache @cache.1 : tensor<3x16x8xf32>
// CHECK-DAG: train.state cache @cache.2 : tensor<3x4x8xf32>
// CHECK-DAG: train.state cache @cache.3 : tensor<3x4x8xf32>
nn.model @lm(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %e = nn.embedding "e" %tokens of 40 by 8
  %r = nn.rope %e positions %positions heads 2 theta 10000
  %a, %la = nn.attention %r, %r, %e heads 2 causal
  %b, %lb = nn.attention %a, %a, %a heads 2 causal window 4
  %by_position = nn.transpose %lb by [0, 2, 1]
  %both = nn.concat dim 2 %b, %by_position
  %logits = nn.linear "head" %both to 40
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @lm optimizer sgd batch 2 x 16 generate_batch 3 }

// CHECK-LABEL: train.entry @prefill
// CHECK:         %[[TOKENS:.*]] = train.input "tokens" micro limit 40 ignore 0 : tensor<1x16xi32>
// CHECK:         %[[CACHE:.*]] = train.get @cache.0 : tensor<3x16x8xf32>
// CHECK:         %[[SLOT:.*]] = nn.reshape %{{.*}} to [1] : tensor<i32>
// CHECK:         %[[TABLE:.*]] = nn.reshape %[[CACHE]] to [3, 128]
// CHECK:         %[[KEYS:.*]] = nn.reshape %{{.*}} to [1, 128] : tensor<1x16x8xf32>
// CHECK:         %[[NEW:.*]] = nn.scatter %[[KEYS]] into %[[TABLE]] at %[[SLOT]]
// CHECK:         %[[NEWCACHE:.*]] = nn.reshape %[[NEW]] to [3, 16, 8]
// CHECK:         train.set @cache.0, %[[NEWCACHE]]
// CHECK:         nn.attention %{{.*}}, %{{.*}}, %{{.*}} heads 2 limit %{{.*}} : tensor<i32> : tensor<1x16x8xf32>
// CHECK:         nn.gather %{{.*}} at %{{.*}} : tensor<16x8xf32>, tensor<4xi32>
// CHECK:         train.set @cache.2
// CHECK:         %[[OLD:.*]] = train.get @logits : tensor<3x40xf32>
// CHECK:         %[[LOGITS:.*]] = nn.scatter %{{.*}} into %[[OLD]] at
// CHECK:         train.set @logits, %[[LOGITS]]

// CHECK-LABEL: train.entry @decode
// CHECK:         %[[POSITIONS:.*]] = train.get @position : tensor<3xi32>
// CHECK:         %[[TOKENS:.*]] = train.input "tokens" micro limit 40 ignore 0 : tensor<1x3xi32>
// CHECK-NOT:     nn.positions
// CHECK:         %[[R:.*]] = nn.rope %{{.*}} positions %[[POSITIONS]] heads 2 {{.*}} : tensor<1x3x8xf32>, tensor<3xi32>
// CHECK:         %[[CACHE:.*]] = train.get @cache.0
// CHECK:         %[[TEXTS:.*]] = nn.iota 0 : tensor<3xi32>
// CHECK:         %[[LENGTH:.*]] = nn.constant 16 : tensor<3xi32>
// CHECK:         %[[BEGINS:.*]] = nn.mul %[[TEXTS]], %[[LENGTH]]
// CHECK:         %[[IDS:.*]] = nn.add %{{.*}}, %[[BEGINS]]
// CHECK:         %[[TABLE:.*]] = nn.reshape %[[CACHE]] to [48, 8]
// CHECK:         %[[ROWS:.*]] = nn.reshape %[[R]] to [3, 8]
// CHECK:         nn.scatter %[[ROWS]] into %[[TABLE]] at %[[IDS]]
// CHECK:         train.set @cache.0
// CHECK:         %[[Q:.*]] = nn.reshape %[[R]] to [3, 1, 8]
// CHECK:         %[[OUT:.*]], %{{.*}} = nn.attention %[[Q]], %{{.*}}, %{{.*}} heads 2 limit %[[POSITIONS]] : tensor<3xi32> : tensor<3x1x8xf32>, tensor<3x16x8xf32>
// CHECK:         nn.reshape %[[OUT]] to [1, 3, 8]
// CHECK:         %[[LAST:.*]] = nn.min %[[POSITIONS]], %{{.*}} : tensor<3xi32>
// CHECK:         %{{.*}}, %[[LSE:.*]] = nn.attention %{{.*}}, %{{.*}}, %{{.*}} heads 2 limit %[[LAST]] : tensor<3xi32> : tensor<3x1x8xf32>, tensor<3x4x8xf32>
// CHECK:         %[[TABLE:.*]] = nn.reshape %[[LSE]] to [3, 2]
// CHECK:         %[[BYHEAD:.*]] = nn.transpose %[[TABLE]] by [1, 0]
// CHECK:         nn.reshape %[[BYHEAD]] to [1, 2, 3]
// CHECK:         %[[LOGITS:.*]] = nn.reshape %{{.*}} to [3, 40] : tensor<1x3x40xf32>
// CHECK:         train.set @logits, %[[LOGITS]]
