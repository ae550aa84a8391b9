// RUN: sed 's/GROUP/2/' %s | trainc-opt --shard | FileCheck %s --check-prefix=SUBTREES
// RUN: sed 's/GROUP/3/' %s | trainc-opt --shard | FileCheck %s --check-prefix=OTHERS

// Six ranks are summed as ((0 + 1) + (2 + 3)) + (4 + 5). Pairs are subtrees and may be summed before; ranks 0 to 2 are not, and the sum over all
// is taken in parts.
train.program @main { model @m optimizer sgd(lr 0.1, momentum 0.9) batch 8 ranks 6 zero_stage 2 hybrid_shard GROUP }
train.state parameter @bucket.0 : tensor<1536xf32> {members = [#train.member<"w", 0, tensor<1500xf32>>]}
train.state optimizer @momentum.bucket.0 : tensor<1536xf32>
// SUBTREES: %[[P:.*]] = dist.reduce_scatter_start %{{.*}} in shard : tensor<1536xf32> -> tensor<768xf32>
// SUBTREES: %[[PAIR:.*]] = dist.wait %[[P]]
// SUBTREES: %[[Q:.*]] = dist.all_reduce_start %[[PAIR]] in replica : tensor<768xf32>
// SUBTREES: %[[SUM:.*]] = dist.wait %[[Q]]
// SUBTREES: train.set @momentum.bucket.0, %[[SUM]] : tensor<768xf32>
// OTHERS-NOT: dist.reduce_scatter_start
// OTHERS: %[[P:.*]] = dist.all_reduce_start %{{.*}} : tensor<1536xf32>
// OTHERS: %[[WHOLE:.*]] = dist.wait %[[P]]
// OTHERS: %[[SUM:.*]] = dist.part %[[WHOLE]] in shard : tensor<1536xf32> -> tensor<512xf32>
// OTHERS: train.set @momentum.bucket.0, %[[SUM]] : tensor<512xf32>
train.entry @micro_step {
  %w = train.input "w" micro : tensor<1536xf32>
  %sum = train.sum_over_ranks %w : tensor<1536xf32>
  train.set @momentum.bucket.0, %sum : tensor<1536xf32>
}
