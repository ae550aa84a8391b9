// RUN: trainc-opt --schedule-collectives %s | FileCheck %s
// RUN: sed 's/zero_stage 3/zero_stage 3 prefetch 0/' %s | trainc-opt --schedule-collectives | FileCheck %s --check-prefix=LATE

// Unit h.1 is gathered while h.0 is computed; without prefetch, where it is read. The sum starts after its pack, and is awaited where the
// norm reads it. The gather of the written state is awaited at the end, after the other collective.
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[G0:.*]] = dist.all_gather_start %{{.*}} : tensor<4xf32> -> tensor<8xf32>
// CHECK: %[[G1:.*]] = dist.all_gather_start
// CHECK-NEXT: dist.wait %[[G0]]
// CHECK-NEXT: nn.square
// CHECK: dist.wait %[[G1]]
// CHECK: %[[PACK:.*]] = dist.pack
// CHECK-NEXT: %[[SUM:.*]] = dist.reduce_scatter_start %[[PACK]]
// CHECK: nn.constant 5
// CHECK: dist.wait %[[SUM]]
// LATE: dist.all_gather_start
// LATE: nn.square
// LATE: dist.all_gather_start
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 3 }
train.state parameter @bucket.0 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.0", "layer">]}
train.state parameter @bucket.1 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.1", "layer">]}
train.state gradient @grad : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>}
train.state scalar @out : tensor<4xf32>
train.entry @micro_step {
  %p0 = train.get @bucket.0 : tensor<4xf32>
  %s0 = dist.all_gather_start %p0 in shard : tensor<4xf32> -> tensor<8xf32>
  %w0 = dist.wait %s0 : tensor<8xf32>
  %y = nn.square %w0 : tensor<8xf32>
  %p1 = train.get @bucket.1 : tensor<4xf32>
  %s1 = dist.all_gather_start %p1 in shard : tensor<4xf32> -> tensor<8xf32>
  %w1 = dist.wait %s1 : tensor<8xf32>
  %g = nn.square %w1 : tensor<8xf32>
  %c = nn.constant 5 : tensor<4xf32>
  train.set @out, %c : tensor<4xf32>
  %flat = dist.pack %g at [0] : tensor<8xf32> -> tensor<8xf32>
  %s = dist.reduce_scatter_start %flat in shard : tensor<8xf32> -> tensor<4xf32>
  %sum = dist.wait %s : tensor<4xf32>
  train.set @grad, %sum : tensor<4xf32>
}
