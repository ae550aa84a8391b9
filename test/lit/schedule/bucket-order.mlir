// RUN: trainc-opt --bucket-collectives --schedule-collectives %s | FileCheck %s

// A write is not moved over a read of its state, and a collective of what another brings is no part of its message.
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[G:.*]] = dist.wait
// CHECK-NEXT: train.set @w, %[[G]]
// CHECK-NEXT: %[[W:.*]] = train.get @w
// CHECK: nn.square %[[W]]
// CHECK-LABEL: train.entry @update
// CHECK: %[[P:.*]] = dist.all_reduce_start %{{.*}} : tensor<4xf32>
// CHECK-NEXT: %[[SUM:.*]] = dist.wait %[[P]]
// CHECK-NEXT: dist.all_reduce_start %[[SUM]] in shard : tensor<4xf32>
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 1 reduce_bucket_size 100 }
train.state parameter @w : tensor<8xf32>
train.state scalar @out : tensor<8xf32>
train.state scalar @twice : tensor<4xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<4xf32>
  %p = nn.abs %x : tensor<4xf32>
  %s = dist.all_gather_start %p in shard : tensor<4xf32> -> tensor<8xf32>
  %g = dist.wait %s : tensor<8xf32>
  train.set @w, %g : tensor<8xf32>
  %w = train.get @w : tensor<8xf32>
  %y = nn.square %w : tensor<8xf32>
  train.set @out, %y : tensor<8xf32>
}
train.entry @update {
  %x = train.get @twice : tensor<4xf32>
  %a = nn.abs %x : tensor<4xf32>
  %s1 = dist.all_reduce_start %a in shard : tensor<4xf32>
  %sum = dist.wait %s1 : tensor<4xf32>
  %s2 = dist.all_reduce_start %sum in shard : tensor<4xf32>
  %sums = dist.wait %s2 : tensor<4xf32>
  %y = nn.square %sums : tensor<4xf32>
  train.set @twice, %y : tensor<4xf32>
}
