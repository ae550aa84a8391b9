// RUN: trainc-opt --shard %s | FileCheck %s

// A rank computes only its shard of everything that follows from the reduced gradient. The momentum shrinks to this shard. The parameter is
// gathered, and so are the squares, which the norm adds in one order.
// CHECK: train.state parameter @bucket.0 : tensor<512xf32>
// CHECK: train.state optimizer @momentum.bucket.0 : tensor<256xf32>{{.*}}dist.placement = #dist.placement<shard = 0>
train.program @main { model @m optimizer sgd(lr 0.1, momentum 0.9) batch 8 ranks 2 zero_stage 1 }
train.state parameter @bucket.0 : tensor<512xf32> {members = [#train.member<"w", 0, tensor<500xf32>>]}
train.state optimizer @momentum.bucket.0 : tensor<512xf32>
train.state scalar from_device @grad_norm : tensor<f32>
// CHECK-LABEL: train.entry @init
// CHECK: %[[ZERO:.*]] = nn.constant 0 : tensor<256xf32>
// CHECK: train.set @momentum.bucket.0, %[[ZERO]] : tensor<256xf32>
train.entry @init {
  %zero = nn.constant 0 : tensor<512xf32>
  train.set @momentum.bucket.0, %zero : tensor<512xf32>
}
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[G:.*]] = dist.pack
// CHECK-NEXT: %[[P:.*]] = dist.reduce_scatter_start %[[G]] in shard : tensor<512xf32> -> tensor<256xf32>
// CHECK: %[[PART:.*]] = dist.wait %[[P]] : tensor<256xf32>
// CHECK: %[[SQUARES:.*]] = nn.square %[[PART]] : tensor<256xf32>
// CHECK: %[[NP:.*]] = dist.all_gather_start %[[SQUARES]] in shard : tensor<256xf32> -> tensor<512xf32>
// CHECK: %[[ALL:.*]] = dist.wait %[[NP]]
// CHECK: %[[NORM:.*]] = nn.reduce sum %[[ALL]] over [0] : tensor<512xf32>
// CHECK: train.set @grad_norm, %[[NORM]]
// CHECK: %[[AGAIN:.*]] = nn.barrier %[[PART]] : tensor<256xf32>
// CHECK: %[[OLD:.*]] = train.get @momentum.bucket.0 : tensor<256xf32>
// CHECK: %[[NEW:.*]] = nn.add %[[OLD]], %[[AGAIN]]
// CHECK: train.set @momentum.bucket.0, %[[NEW]] : tensor<256xf32>
// CHECK: %[[W:.*]] = train.get @bucket.0 : tensor<512xf32>
// CHECK: %[[MINE:.*]] = dist.part %[[W]] in shard : tensor<512xf32> -> tensor<256xf32>
// CHECK: %[[UPDATED:.*]] = nn.sub %[[MINE]], %[[NEW]]
// CHECK: %[[GATHER:.*]] = dist.all_gather_start %[[UPDATED]] in shard : tensor<256xf32> -> tensor<512xf32>
// CHECK: %[[WHOLE:.*]] = dist.wait %[[GATHER]]
// CHECK: train.set @bucket.0, %[[WHOLE]]
train.entry @micro_step {
  %w = train.input "w" micro : tensor<500xf32>
  %g = dist.pack %w at [0] : tensor<500xf32> -> tensor<512xf32>
  %sum = train.sum_over_ranks %g : tensor<512xf32>
  %squares = nn.square %sum : tensor<512xf32>
  %norm = nn.reduce sum %squares over [0] : tensor<512xf32>
  train.set @grad_norm, %norm : tensor<f32>
  %again = nn.barrier %sum : tensor<512xf32>
  %old = train.get @momentum.bucket.0 : tensor<512xf32>
  %new = nn.add %old, %again : tensor<512xf32>, tensor<512xf32>
  train.set @momentum.bucket.0, %new : tensor<512xf32>
  %flat = train.get @bucket.0 : tensor<512xf32>
  %updated = nn.sub %flat, %new : tensor<512xf32>, tensor<512xf32>
  train.set @bucket.0, %updated : tensor<512xf32>
}
