// RUN: trainc-opt --schedule-collectives --verify-scheduled %s | FileCheck %s

// A message sums the results of two other collectives. Both are awaited before its first start, so that its starts stay adjacent.
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[A:.*]] = dist.reduce_scatter_start
// CHECK: %[[B:.*]] = dist.reduce_scatter_start
// CHECK: %[[PART_A:.*]] = dist.wait %[[A]]
// CHECK-NEXT: %[[PART_B:.*]] = dist.wait %[[B]]
// CHECK-NEXT: dist.all_reduce_start %[[PART_A]] in replica message 0
// CHECK-NEXT: dist.all_reduce_start %[[PART_B]] in replica message 0
dist.mesh [replica = 2, shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 4 zero_stage 2 hybrid_shard 2 }
train.state gradient @grad.0 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>}
train.state gradient @grad.1 : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>}
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8xf32>
  %y = nn.kernel 1 x 8 (%a = %x : tensor<8xf32>) -> (tensor<8xf32>) {
    %b = nn.square %a : tensor<8xf32>
    nn.yield %b : tensor<8xf32>
  }
  %s0 = dist.reduce_scatter_start %x in shard : tensor<8xf32> -> tensor<4xf32>
  %w0 = dist.wait %s0 : tensor<4xf32>
  %r0 = dist.all_reduce_start %w0 in replica message 0 : tensor<4xf32>
  %v0 = dist.wait %r0 : tensor<4xf32>
  train.set @grad.0, %v0 : tensor<4xf32>
  %s1 = dist.reduce_scatter_start %y in shard : tensor<8xf32> -> tensor<4xf32>
  %w1 = dist.wait %s1 : tensor<4xf32>
  %r1 = dist.all_reduce_start %w1 in replica message 0 : tensor<4xf32>
  %v1 = dist.wait %r1 : tensor<4xf32>
  train.set @grad.1, %v1 : tensor<4xf32>
}
