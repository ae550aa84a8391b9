// RUN: trainc-opt %s --instantiate | FileCheck %s

// `prefill` reads a whole context and yields the logits at `position`; `decode` reads one more token. Keys and values
// are kept in between. After the last attention, only one position is computed.
nn.block @layer(%x: tensor<?x?x8xf32>, %segments: tensor<?x?xi32>) {
  %qkv = nn.linear "qkv" %x to 24 no_bias
  %q, %k, %v = nn.split %qkv into 3
  %y, %lse = nn.attention %q, %k, %v heads 2 causal segments %segments
  nn.return %y
}
nn.model @lm(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>, %segments: tensor<?x?xi32>) {
  %positions = nn.positions %tokens
  %e = nn.embedding "e" %tokens of 40 by 8
  %p = nn.embedding "p" %positions of 16 by 8
  %x = nn.add %e, %p
  %h = nn.repeat @layer "h" times 1 (%x, %segments)
  %logits = nn.linear "head" %h tied "e.weight" no_bias
  nn.output "logits" %logits
  %nll, %lse = nn.cross_entropy %logits, %labels
  nn.loss "loss" %nll
}
train.program @p { model @lm optimizer sgd batch 2 x 16 }

// CHECK-DAG: train.state scalar to_device @position : tensor<i32>
// CHECK-DAG: train.state output @logits : tensor<40xf32>
// CHECK-DAG: train.state cache @cache.0 : tensor<1x16x8xf32>
// CHECK-DAG: train.state cache @cache.1 : tensor<1x16x8xf32>
// CHECK-NOT: @cache.2

// CHECK-LABEL: train.entry @eval
// CHECK-NOT:     limit %

// CHECK-LABEL: train.entry @prefill
// CHECK:         %[[FIRST:.*]] = nn.constant 0 : tensor<i32>
// CHECK:         %[[POSITION:.*]] = train.get @position
// CHECK:         %[[TOKENS:.*]] = train.input "tokens" micro limit 40 ignore 0 : tensor<1x16xi32>
// CHECK-NOT:     train.input
// CHECK:         nn.positions %[[TOKENS]] from %[[FIRST]]
// CHECK:         %[[QKV:.*]]:3 = nn.split
// CHECK:         train.set @cache.0, %[[QKV]]#1
// CHECK:         train.set @cache.1, %[[QKV]]#2
// CHECK:         %[[Y:.*]], %{{.*}} = nn.attention %[[QKV]]#0, %[[QKV]]#1, %[[QKV]]#2 heads 2 limit %[[FIRST]]
// CHECK:         %[[ROWS:.*]] = nn.reshape %[[Y]] to [16, 8]
// CHECK:         %[[AT:.*]] = nn.reshape %[[POSITION]] to [1]
// CHECK:         %[[ROW:.*]] = nn.gather %[[ROWS]] at %[[AT]]
// CHECK:         %[[LAST:.*]] = nn.reshape %[[ROW]] to [1, 1, 8]
// CHECK:         %[[LOGITS:.*]] = nn.matmul %[[LAST]], %{{.*}} transposed : tensor<1x1x8xf32>, tensor<40x8xf32>
// CHECK:         %[[FLAT:.*]] = nn.reshape %[[LOGITS]] to [40]
// CHECK:         train.set @logits, %[[FLAT]]
// CHECK-NOT:     nn.cross_entropy

// CHECK-LABEL: train.entry @decode
// CHECK:         %[[POSITION:.*]] = train.get @position
// CHECK:         %[[TOKEN:.*]] = train.input "tokens" micro limit 40 ignore 0 : tensor<1x1xi32>
// CHECK:         nn.positions %[[TOKEN]] from %[[POSITION]]
// CHECK:         %[[QKV:.*]]:3 = nn.split
// CHECK:         %[[KEYS:.*]] = train.get @cache.0
// CHECK:         %[[ROW:.*]] = nn.reshape %[[POSITION]] to [1]
// CHECK:         %[[TABLE:.*]] = nn.reshape %[[KEYS]] to [16, 8]
// CHECK:         %[[KEY:.*]] = nn.reshape %[[QKV]]#1 to [1, 8]
// CHECK:         %[[NEWTABLE:.*]] = nn.scatter %[[KEY]] into %[[TABLE]] at %[[ROW]]
// CHECK:         %[[NEWKEYS:.*]] = nn.reshape %[[NEWTABLE]] to [1, 16, 8]
// CHECK:         train.set @cache.0, %[[NEWKEYS]]
// CHECK:         nn.scatter
// CHECK:         %[[NEWVALUES:.*]] = nn.reshape %{{.*}} to [1, 16, 8]
// CHECK:         train.set @cache.1, %[[NEWVALUES]]
// CHECK:         nn.attention %[[QKV]]#0, %[[NEWKEYS]], %[[NEWVALUES]] heads 2 limit %[[POSITION]]
// CHECK-NOT:     nn.gather %{{.*}} at %{{.*}} : tensor<1x
// CHECK:         train.set @logits
