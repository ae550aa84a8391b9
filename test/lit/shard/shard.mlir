// RUN: trainc-opt --shard %s | FileCheck %s

// A sum over ranks starts where its value is known and is waited for where it stood.
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[G:.*]] = nn.matmul
// CHECK-NEXT: %[[PENDING:.*]] = dist.all_reduce_start %[[G]] in shard : tensor<4x2xf32>
// CHECK-NEXT: %[[W:.*]] = train.get @w
// CHECK-NEXT: %[[SUM:.*]] = dist.wait %[[PENDING]] : tensor<4x2xf32>
// CHECK-NEXT: nn.sub %[[W]], %[[SUM]]
// CHECK-NOT: train.sum_over_ranks
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 }
train.state parameter @w : tensor<4x2xf32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x2xf32>
  %y = train.input "y" micro : tensor<8x4xf32>
  %g = nn.matmul %y transposed, %x : tensor<8x4xf32>, tensor<8x2xf32>
  %w = train.get @w : tensor<4x2xf32>
  %sum = train.sum_over_ranks %g : tensor<4x2xf32>
  %new = nn.sub %w, %sum : tensor<4x2xf32>, tensor<4x2xf32>
  train.set @w, %new : tensor<4x2xf32>
}
