// RUN: trainc-opt --reshard %s | FileCheck %s
// RUN: sed 's/zero_stage 3/zero_stage 3 reshard_after_forward false/' %s | trainc-opt --reshard | FileCheck %s --check-prefix=KEEP
// RUN: sed 's/zero_stage 3/zero_stage 3 max_reuse_distance 9/' %s | trainc-opt --reshard | FileCheck %s --check-prefix=KEEP
// RUN: sed 's/zero_stage 3/zero_stage 3 max_reuse_distance 8/' %s | trainc-opt --reshard | FileCheck %s

// Unit h.0 is read, then h.1, then h.0 again: it is gathered twice. Alternating reads of the two flat states of one unit cause no second
// gather, nor do reads at the boundary between two units.
// CHECK-LABEL: train.entry @micro_step
// CHECK-COUNT-3: dist.all_gather_start
// CHECK: nn.square
// CHECK: %[[AGAIN:.*]] = dist.all_gather_start %[[PART:.*]] in shard : tensor<4xf32> -> tensor<8xf32>
// CHECK: %[[W:.*]] = dist.wait %[[AGAIN]]
// CHECK: %[[MEMBER:.*]] = dist.member %[[W]] at 0
// CHECK: nn.mul %{{.*}}, %[[MEMBER]]
// CHECK-NOT: dist.all_gather_start
// KEEP-COUNT-3: dist.all_gather_start
// KEEP-NOT: dist.all_gather_start
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 3 }
train.state parameter @bucket.0 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.0", "layer">]}
train.state parameter @bucket.1 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.0", "layer">]}
train.state parameter @bucket.2 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.1", "layer">]}
train.state scalar @out : tensor<8xf32>
train.entry @micro_step {
  %x = nn.constant 2 : tensor<8xf32>
  %p0 = train.get @bucket.0 : tensor<4xf32>
  %s0 = dist.all_gather_start %p0 in shard : tensor<4xf32> -> tensor<8xf32>
  %f0 = dist.wait %s0 : tensor<8xf32>
  %w0 = dist.member %f0 at 0 : tensor<8xf32> -> tensor<8xf32>
  %a = nn.mul %x, %w0 : tensor<8xf32>, tensor<8xf32>
  %p1 = train.get @bucket.1 : tensor<4xf32>
  %s1 = dist.all_gather_start %p1 in shard : tensor<4xf32> -> tensor<8xf32>
  %w1 = dist.wait %s1 : tensor<8xf32>
  %b = nn.add %a, %w1 : tensor<8xf32>, tensor<8xf32>
  %c = nn.mul %b, %w0 : tensor<8xf32>, tensor<8xf32>
  %p2 = train.get @bucket.2 : tensor<4xf32>
  %s2 = dist.all_gather_start %p2 in shard : tensor<4xf32> -> tensor<8xf32>
  %w2 = dist.wait %s2 : tensor<8xf32>
  %y = nn.mul %c, %w2 : tensor<8xf32>, tensor<8xf32>
  %dy = nn.square %y : tensor<8xf32>
  %dx = nn.mul %dy, %w0 : tensor<8xf32>, tensor<8xf32>
  train.set @out, %dx : tensor<8xf32>
}
