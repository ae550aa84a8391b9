// RUN: trainc-opt %s --shard | FileCheck %s

// A maximum over ranks is gathered from all ranks, whatever the groups that shard states, and its result is not sharded.

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[M:.*]] = nn.reduce max
// CHECK: %[[PENDING:.*]] = dist.all_gather_start %[[M]] in [replica, shard] : tensor<2xf32> -> tensor<8xf32>
// CHECK: %[[ALL:.*]] = dist.wait %[[PENDING]] : tensor<8xf32>
// CHECK: %[[ROWS:.*]] = nn.reshape %[[ALL]] to [4, 2]
// CHECK: %[[MAX:.*]] = nn.reduce max %[[ROWS]] over [0]
// CHECK: train.set @largest, %[[MAX]] : tensor<2xf32>
train.program @p { model @m  optimizer sgd  batch 2  ranks 4  zero_stage 1  hybrid_shard 2 }
train.state optimizer @largest : tensor<2xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x2xf32>
  %m = nn.reduce max %x over [0] : tensor<8x2xf32>
  %all = train.max_over_ranks %m : tensor<2xf32>
  train.set @largest, %all : tensor<2xf32>
}
