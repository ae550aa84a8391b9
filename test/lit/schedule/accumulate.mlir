// RUN: trainc-opt --bucket-collectives --schedule-collectives %s | FileCheck %s

// Gradients of a micro-batch are reduced while the backward of earlier layers is computed, and are added when the collective has ended. One
// collective reduces all gradients of a unit.
// CHECK: dist.reduce_scatter_start %{{.*}} of @bucket.1 message 0
// CHECK-NEXT: dist.reduce_scatter_start %{{.*}} of @bucket.2 message 0
// CHECK: nn.matmul
// CHECK: %[[SUM:.*]] = dist.wait
// CHECK: %[[ADDED:.*]] = nn.add %{{.*}}, %[[SUM]]
// CHECK-NEXT: train.set @grad.bucket.1, %[[ADDED]]
// CHECK: dist.wait
// CHECK: train.set @grad.bucket.2
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 2 accumulate 2 reduce_bucket_size 0 }
train.state parameter @bucket.1 : tensor<8xf32> {members = [], blocks = [#train.block<"h.1", "layer">]}
train.state parameter @bucket.2 : tensor<8xf32> {members = [], blocks = [#train.block<"h.1", "layer">]}
train.state gradient @grad.bucket.1 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>}
train.state gradient @grad.bucket.2 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>}
train.state scalar @matrix : tensor<512x512xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8xf32>
  %g1 = nn.abs %x : tensor<8xf32>
  %s1 = dist.reduce_scatter_start %g1 in shard of @bucket.1 : tensor<8xf32> -> tensor<4xf32>
  %sum1 = dist.wait %s1 : tensor<4xf32>
  %old1 = train.get @grad.bucket.1 : tensor<4xf32>
  %new1 = nn.add %old1, %sum1 : tensor<4xf32>, tensor<4xf32>
  train.set @grad.bucket.1, %new1 : tensor<4xf32>
  %g2 = nn.square %x : tensor<8xf32>
  %s2 = dist.reduce_scatter_start %g2 in shard of @bucket.2 : tensor<8xf32> -> tensor<4xf32>
  %sum2 = dist.wait %s2 : tensor<4xf32>
  %old2 = train.get @grad.bucket.2 : tensor<4xf32>
  %new2 = nn.add %old2, %sum2 : tensor<4xf32>, tensor<4xf32>
  train.set @grad.bucket.2, %new2 : tensor<4xf32>
  %a = train.get @matrix : tensor<512x512xf32>
  %b = nn.matmul %a, %a : tensor<512x512xf32>, tensor<512x512xf32>
  train.set @matrix, %b : tensor<512x512xf32>
}
