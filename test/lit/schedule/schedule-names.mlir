// RUN: trainc-opt --schedule-collectives %s | FileCheck %s

// Ops that compute nothing and give a collective its operand, a reshape and a read of a state, move to the front with the collective.
// CHECK-LABEL: train.entry @micro_step
// CHECK: nn.abs
// CHECK: %[[R:.*]] = nn.reshape
// CHECK: %[[W:.*]] = train.get @w
// CHECK: %[[FLAT:.*]] = dist.pack %[[R]], %[[W]]
// CHECK-NEXT: dist.reduce_scatter_start %[[FLAT]]
// CHECK: nn.matmul
dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 zero_stage 2 }
train.state gradient @grad : tensor<8xf32> {dist.placement = #dist.placement<shard = 0>}
train.state parameter @w : tensor<8xf32>
train.state scalar @matrix : tensor<512x512xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<2x4xf32>
  %g = nn.abs %x : tensor<2x4xf32>
  %a = train.get @matrix : tensor<512x512xf32>
  %b = nn.matmul %a, %a : tensor<512x512xf32>, tensor<512x512xf32>
  train.set @matrix, %b : tensor<512x512xf32>
  %r = nn.reshape %g to [8] : tensor<2x4xf32>
  %w = train.get @w : tensor<8xf32>
  %flat = dist.pack %r, %w at [0, 8] : tensor<8xf32>, tensor<8xf32> -> tensor<16xf32>
  %s = dist.reduce_scatter_start %flat in shard : tensor<16xf32> -> tensor<8xf32>
  %sum = dist.wait %s : tensor<8xf32>
  train.set @grad, %sum : tensor<8xf32>
}
