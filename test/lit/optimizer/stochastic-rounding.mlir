// RUN: trainc-opt %s --split-input-file --optimizer --canonicalize --cse | FileCheck %s
// RUN: trainc-opt %s --split-input-file --optimizer --canonicalize --cse --shard | FileCheck %s --check-prefix=PART

// Moments in bf16: read as f32, used as they were computed, written rounded at random. Parameters stay f32. Members are numbered in
// the order of their names through all buckets, and frozen ones are not: a has 2 chunks, b 1, c 3.

train.program @p { model @m  optimizer adam(lr 0.1)  schedule constant  batch 2  optimizer_states bf16  ranks 2  zero_stage 1 }
// CHECK: train.state parameter @bucket.0 : tensor<1024xf32>
// CHECK: train.state optimizer @bias_correction1 : tensor<f32>
// CHECK: train.state optimizer @exp_avg.bucket.0 : tensor<1024xbf16> {members = [#train.member<"exp_avg.c", 0, tensor<3x256xbf16>>, #train.member<"exp_avg.b", 768, tensor<2xbf16>>]}
// CHECK: train.state chunks @chunks.bucket.0 : tensor<4xi64>{{.*}}dist.placement = #dist.placement<shard = 0>
// CHECK: train.state optimizer @exp_avg_sq.bucket.0 : tensor<1024xbf16>
// CHECK: train.state optimizer @exp_avg.bucket.1 : tensor<1024xbf16>
// CHECK: train.state chunks @chunks.bucket.1 : tensor<4xi64>{{.*}}dist.placement = #dist.placement<shard = 0>
// PART: train.state optimizer @exp_avg.bucket.0 : tensor<512xbf16>{{.*}}dist.placement = #dist.placement<shard = 0>
// PART: train.state chunks @chunks.bucket.0 : tensor<2xi64>{{.*}}dist.placement = #dist.placement<shard = 0>
train.state parameter @bucket.0 : tensor<1024xf32> {members = [#train.member<"c", 0, tensor<3x256xf32>>, #train.member<"b", 768, tensor<2xf32>>]}
train.state parameter @bucket.1 : tensor<1024xf32> {members = [#train.member<"a", 0, tensor<300xf32>>]}
train.state parameter frozen @bucket.2 : tensor<512xf32> {members = [#train.member<"a.frozen", 0, tensor<300xf32>>]}

train.entry @init {
}
// CHECK-LABEL: train.entry @refresh
// CHECK-DAG: %[[ZERO:.*]] = nn.constant 0 : tensor<2x8xi64>
// CHECK-DAG: %[[THREE:.*]] = nn.constant 3 : tensor<3x8xi64>
// CHECK-DAG: %[[TWO:.*]] = nn.constant 2 : tensor<1x8xi64>
// CHECK: %[[I:.*]] = nn.iota 0 : tensor<3x8xi64>
// CHECK: %[[C:.*]] = nn.add %[[I]], %[[THREE]]
// CHECK: %[[J:.*]] = nn.iota 0 : tensor<1x8xi64>
// CHECK: %[[B:.*]] = nn.add %[[J]], %[[TWO]]
// CHECK: %[[ROWS:.*]] = nn.concat dim 0 %[[C]], %[[B]] :
// CHECK: %[[COLUMN:.*]] = nn.slice %[[ROWS]] dim 1 from 0 size 1
// CHECK: %[[ALL:.*]] = nn.reshape %[[COLUMN]] to [4]
// CHECK: train.set @chunks.bucket.0, %[[ALL]] : tensor<4xi64>
// CHECK: %[[A:.*]] = nn.iota 0 : tensor<2x8xi64>
// CHECK: nn.concat dim 0 %[[A]], %[[ZERO]] :
// CHECK: train.set @chunks.bucket.1
// PART-LABEL: train.entry @refresh
// PART: %[[PART:.*]] = dist.part %{{.*}} : tensor<4x8xi64> -> tensor<2x8xi64>
// PART: nn.slice %[[PART]] dim 1
// PART: train.set @chunks.bucket.0, %{{.*}} : tensor<2xi64>

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[OLD:.*]] = train.get @exp_avg.bucket.0 : tensor<1024xbf16>
// CHECK: %[[WIDE:.*]] = nn.convert %[[OLD]] to f32
// CHECK: nn.mul %[[WIDE]]
// CHECK: %[[MEAN:.*]] = nn.add
// CHECK: %[[SEED:.*]] = train.get @seed : tensor<i64>
// CHECK: %[[STEP:.*]] = train.get @step : tensor<i64>
// CHECK: %[[NUMBERS:.*]] = train.get @chunks.bucket.0 : tensor<4xi64>
// CHECK: %[[COLUMN:.*]] = nn.reshape %[[NUMBERS]] to [4, 1]
// CHECK: %[[ROWS:.*]] = nn.broadcast %[[COLUMN]] to [4, 256]
// CHECK: %[[CHUNKS:.*]] = nn.reshape %[[ROWS]] to [1024]
// CHECK: %[[LOW:.*]] = nn.stochastic_round %[[MEAN]] in %[[CHUNKS]] draw 0 seed %[[SEED]] step %[[STEP]]
// CHECK: %[[KEPT:.*]] = nn.select %{{.*}}, %[[LOW]], %[[OLD]] : tensor<1024xi1>, tensor<1024xbf16>, tensor<1024xbf16>
// CHECK: train.set @exp_avg.bucket.0, %[[KEPT]] : tensor<1024xbf16>
// CHECK: %[[SQUARE:.*]] = nn.stochastic_round %[[VARIANCE:.*]] in %[[CHUNKS]] draw 1
// CHECK: nn.sqrt %[[VARIANCE]]
// CHECK: nn.div %[[MEAN]]
// CHECK: train.set @bucket.0, %{{.*}} : tensor<1024xf32>
// PART-LABEL: train.entry @micro_step
// PART: %[[ROWS:.*]] = nn.broadcast %{{.*}} to [2, 256]
// PART: nn.reshape %[[ROWS]] to [512]
// PART: nn.stochastic_round %{{.*}} : tensor<512xf32>, tensor<512xi64>, tensor<i64>, tensor<i64>
train.entry @micro_step {
  %g0 = train.input "g" micro : tensor<1024xf32>
  %g1 = train.input "h" micro : tensor<1024xf32>
  train.gradient @bucket.0, %g0 : tensor<1024xf32>
  train.gradient @bucket.1, %g1 : tensor<1024xf32>
}

// -----

// Parameters in bf16, moments in f32.

train.program @p { model @m  optimizer sgd(lr 0.1, momentum 0.9)  schedule constant  batch 2  precision bf16 param_type bf16 }
train.state parameter @bucket.0 : tensor<256xbf16> {members = [#train.member<"w", 0, tensor<200xbf16>>]}
// CHECK: train.state optimizer @momentum.bucket.0 : tensor<256xf32> {members = [#train.member<"momentum.w", 0, tensor<200xf32>>]}
// CHECK: train.state chunks @chunks.bucket.0 : tensor<1xi64>

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[OLD:.*]] = train.get @bucket.0 : tensor<256xbf16>
// CHECK: %[[WIDE:.*]] = nn.convert %[[OLD]] to f32
// CHECK: train.set @momentum.bucket.0, %{{.*}} : tensor<256xf32>
// CHECK: %[[NEW:.*]] = nn.sub %[[WIDE]]
// CHECK: %[[LOW:.*]] = nn.stochastic_round %[[NEW]]
// CHECK: %[[KEPT:.*]] = nn.select %{{.*}}, %[[LOW]], %[[OLD]]
// CHECK: train.set @bucket.0, %[[KEPT]] : tensor<256xbf16>
train.entry @micro_step {
  %g = train.input "g" micro : tensor<256xf32>
  train.gradient @bucket.0, %g : tensor<256xf32>
}
