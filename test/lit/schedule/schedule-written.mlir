// RUN: trainc-opt --schedule-collectives %s | FileCheck %s

// Parameters that are written before they are read are not gathered ahead of the write.
// CHECK-LABEL: train.entry @micro_step
// CHECK: nn.square
// CHECK: train.set @bucket.1
// CHECK: train.get @bucket.1
// CHECK: dist.all_gather_start
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 3 }
train.state parameter @bucket.0 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.0", "layer">]}
train.state parameter @bucket.1 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>, members = [], blocks = [#train.block<"h.1", "layer">]}
train.state scalar @out : tensor<8xf32>
train.entry @micro_step {
  %p0 = train.get @bucket.0 : tensor<4xf32>
  %s0 = dist.all_gather_start %p0 in shard : tensor<4xf32> -> tensor<8xf32>
  %w0 = dist.wait %s0 : tensor<8xf32>
  %y = nn.square %w0 : tensor<8xf32>
  train.set @out, %y : tensor<8xf32>
  train.set @bucket.1, %p0 : tensor<4xf32>
  %p1 = train.get @bucket.1 : tensor<4xf32>
  %s1 = dist.all_gather_start %p1 in shard : tensor<4xf32> -> tensor<8xf32>
  %w1 = dist.wait %s1 : tensor<8xf32>
  %g = nn.square %w1 : tensor<8xf32>
  train.set @out, %g : tensor<8xf32>
}
