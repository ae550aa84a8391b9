// RUN: trainc-opt --bucket-collectives %s | FileCheck %s --check-prefixes=CHECK,UNIT
// RUN: sed 's/bucket_size 0/bucket_size 24/g' %s | trainc-opt --bucket-collectives | FileCheck %s --check-prefixes=CHECK,SIZE
// RUN: sed 's/bucket_size 0/bucket_size 12/g' %s | trainc-opt --bucket-collectives --schedule-collectives | FileCheck %s --check-prefix=PLACED

// The two gathers of h.0 go together, and the two sums of its gradients; with room for 24 elements those of h.1 too. The gather of a written
// state is not a gather of parameters that are read.
// CHECK-LABEL: train.entry @micro_step
// UNIT: dist.all_gather_start %{{.*}} message 1 : tensor<4xf32> -> tensor<8xf32>
// UNIT: dist.all_gather_start %{{.*}} message 1 : tensor<2xf32> -> tensor<4xf32>
// UNIT: dist.all_gather_start %{{[0-9]+}} in shard : tensor<4xf32>
// UNIT: dist.reduce_scatter_start %{{.*}} of @bucket.2 : tensor<8xf32>
// UNIT: dist.reduce_scatter_start %{{.*}} of @bucket.0 message 0 : tensor<8xf32>
// UNIT: dist.reduce_scatter_start %{{.*}} of @bucket.1 message 0 : tensor<4xf32>
// SIZE-COUNT-3: dist.all_gather_start %{{.*}} message 1
// SIZE-COUNT-3: dist.reduce_scatter_start %{{.*}} message 0
// CHECK: dist.all_gather_start %{{[0-9]+}} in shard : tensor<4xf32>

// The starts of a message are next to each other, after the last of its operands.
// PLACED-LABEL: train.entry @micro_step
// PLACED: dist.all_gather_start %{{.*}} message 1
// PLACED-NEXT: dist.all_gather_start %{{.*}} message 1
// PLACED: dist.reduce_scatter_start %{{.*}} of @bucket.2 : tensor<8xf32>
// PLACED: nn.abs
// PLACED: dist.reduce_scatter_start %{{.*}} of @bucket.0 message 0
// PLACED-NEXT: dist.reduce_scatter_start %{{.*}} of @bucket.1 message 0
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 3 reduce_bucket_size 0 allgather_bucket_size 0 }
train.state parameter @bucket.0 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.0", "layer">]}
train.state parameter @bucket.1 : tensor<2xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.0", "layer">]}
train.state parameter @bucket.2 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.1", "layer">]}
train.state parameter @whole : tensor<8xf32>
train.state gradient @grad.0 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>}
train.state gradient @grad.1 : tensor<2xf32> {dist.placement = #dist.placement<shard = 0>}
train.state gradient @grad.2 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>}
train.entry @micro_step {
  %p0 = train.get @bucket.0 : tensor<4xf32>
  %s0 = dist.all_gather_start %p0 in shard : tensor<4xf32> -> tensor<8xf32>
  %w0 = dist.wait %s0 : tensor<8xf32>
  %y0 = nn.square %w0 : tensor<8xf32>
  %p1 = train.get @bucket.1 : tensor<2xf32>
  %s1 = dist.all_gather_start %p1 in shard : tensor<2xf32> -> tensor<4xf32>
  %w1 = dist.wait %s1 : tensor<4xf32>
  %y1 = nn.square %w1 : tensor<4xf32>
  %p2 = train.get @bucket.2 : tensor<4xf32>
  %s2 = dist.all_gather_start %p2 in shard : tensor<4xf32> -> tensor<8xf32>
  %w2 = dist.wait %s2 : tensor<8xf32>
  %y2 = nn.square %w2 : tensor<8xf32>
  %g2 = dist.reduce_scatter_start %y2 in shard of @bucket.2 : tensor<8xf32> -> tensor<4xf32>
  %d2 = dist.wait %g2 : tensor<4xf32>
  %a0 = nn.abs %y0 : tensor<8xf32>
  %g0 = dist.reduce_scatter_start %a0 in shard of @bucket.0 : tensor<8xf32> -> tensor<4xf32>
  %d0 = dist.wait %g0 : tensor<4xf32>
  %a1 = nn.abs %y1 : tensor<4xf32>
  %g1 = dist.reduce_scatter_start %a1 in shard of @bucket.1 : tensor<4xf32> -> tensor<2xf32>
  %d1 = dist.wait %g1 : tensor<2xf32>
  train.set @grad.2, %d2 : tensor<4xf32>
  train.set @grad.0, %d0 : tensor<4xf32>
  train.set @grad.1, %d1 : tensor<2xf32>
  %n = nn.abs %p0 : tensor<4xf32>
  %sn = dist.all_gather_start %n in shard : tensor<4xf32> -> tensor<8xf32>
  %wn = dist.wait %sn : tensor<8xf32>
  train.set @whole, %wn : tensor<8xf32>
}
