// RUN: sed 's/GROUP/2/' %s | trainc-opt --shard --canonicalize | FileCheck %s --check-prefix=SUBTREES
// RUN: sed 's/GROUP/3/' %s | trainc-opt --shard --canonicalize | FileCheck %s --check-prefix=OTHERS
// RUN: sed 's/GROUP/6/' %s | trainc-opt --shard --canonicalize | FileCheck %s --check-prefix=ALL

// Sums of bf16 numbers within groups are rounded once, after the sum across groups, and no simplification removes this rounding. If there
// is only one sum, the sum itself rounds.
train.program @main { model @m optimizer sgd(lr 0.1, momentum 0.9) batch 8 ranks 6 zero_stage 2 hybrid_shard GROUP }
train.state parameter @bucket.0 : tensor<1536xf32> {members = [#train.member<"w", 0, tensor<1500xf32>>]}
train.state optimizer @momentum.bucket.0 : tensor<1536xf32>
// SUBTREES: %[[G:.*]] = nn.convert %{{.*}} to bf16 : tensor<1536xf32>
// SUBTREES: %[[P:.*]] = dist.reduce_scatter_start %[[G]] in shard of @bucket.0 : tensor<1536xbf16> -> tensor<768xf32>
// SUBTREES: %[[PAIR:.*]] = dist.wait %[[P]] : tensor<768xf32>
// SUBTREES: %[[Q:.*]] = dist.all_reduce_start %[[PAIR]] in replica of @bucket.0 : tensor<768xf32>
// SUBTREES: %[[SUM:.*]] = dist.wait %[[Q]] : tensor<768xf32>
// SUBTREES: %[[ROUNDED:.*]] = nn.convert %[[SUM]] to bf16 : tensor<768xf32>
// SUBTREES: %[[WIDE:.*]] = nn.convert %[[ROUNDED]] to f32 : tensor<768xbf16>
// SUBTREES: train.set @momentum.bucket.0, %[[WIDE]] : tensor<768xf32>
// OTHERS-NOT: dist.reduce_scatter_start
// OTHERS: %[[P:.*]] = dist.all_reduce_start %{{.*}} of @bucket.0 : tensor<1536xbf16>
// OTHERS: %[[WHOLE:.*]] = dist.wait %[[P]] : tensor<1536xbf16>
// OTHERS: %[[SUM:.*]] = dist.part %[[WHOLE]] in shard : tensor<1536xbf16> -> tensor<512xbf16>
// OTHERS-NEXT: nn.convert %[[SUM]] to f32 : tensor<512xbf16>
// ALL: %[[P:.*]] = dist.reduce_scatter_start %{{.*}} in shard of @bucket.0 : tensor<1536xbf16> -> tensor<256xbf16>
// ALL: %[[SUM:.*]] = dist.wait %[[P]] : tensor<256xbf16>
// ALL-NEXT: nn.convert %[[SUM]] to f32 : tensor<256xbf16>
train.entry @micro_step {
  %w = train.input "w" micro : tensor<1536xf32>
  %low = nn.convert %w to bf16 : tensor<1536xf32>
  %sum = train.sum_over_ranks %low of @bucket.0 : tensor<1536xbf16>
  %wide = nn.convert %sum to f32 : tensor<1536xbf16>
  train.set @momentum.bucket.0, %wide : tensor<1536xf32>
}
