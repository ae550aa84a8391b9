// RUN: trainc-opt --flatten %s | FileCheck %s

// Parameters that are updated alike lie in one flat state, a multiple of 256 elements for each of the two ranks; frozen ones stay.
// CHECK: group "bucket.0" lr_scale 1 weight_decay 0.1
// CHECK: group "bucket.1" lr_scale 1 weight_decay 0
// CHECK-DAG: train.state parameter @bucket.0 : tensor<1024xf32> {members = [#train.member<"a", 0, tensor<20x30xf32>>, #train.member<"c", 768, tensor<2x2xf32>>]}
// CHECK-DAG: train.state parameter @bucket.1 : tensor<512xf32> {members = [#train.member<"b", 0, tensor<30xf32>>]}
// CHECK-DAG: train.state parameter frozen @d : tensor<2xf32>
// CHECK-NOT: train.state parameter @a
train.program @main {
  model @m
  optimizer adamw(lr 0.1, weight_decay 0.1)
  batch 8
  ranks 2
  zero_stage 1
}
train.state parameter @a : tensor<20x30xf32>
train.state parameter @b : tensor<30xf32>
train.state parameter @c : tensor<2x2xf32>
train.state parameter frozen @d : tensor<2xf32>
// CHECK-LABEL: train.entry @init
// CHECK: %[[C:.*]] = nn.constant 3 : tensor<2x2xf32>
// CHECK: %[[A:.*]] = nn.constant 1 : tensor<20x30xf32>
// CHECK: %[[FLAT:.*]] = dist.pack %[[A]], %[[C]] at [0, 768] : tensor<20x30xf32>, tensor<2x2xf32> -> tensor<1024xf32>
// CHECK: train.set @bucket.0, %[[FLAT]]
train.entry @init {
  %c = nn.constant 3 : tensor<2x2xf32>
  train.set @c, %c : tensor<2x2xf32>
  %a = nn.constant 1 : tensor<20x30xf32>
  train.set @a, %a : tensor<20x30xf32>
  %b = nn.constant 2 : tensor<30xf32>
  train.set @b, %b : tensor<30xf32>
}
// Members are put together as soon as all are known.
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[BUCKET:.*]] = train.get @bucket.0
// CHECK: %[[VALUE:.*]] = dist.member %[[BUCKET]] at 768 : tensor<1024xf32> -> tensor<2x2xf32>
// CHECK: %[[DC:.*]] = nn.square %[[VALUE]]
// CHECK: %[[GRADIENTS:.*]] = dist.pack %{{.*}}, %[[DC]]
// CHECK: train.get @bucket.1
// CHECK: train.gradient @bucket.0, %[[GRADIENTS]] : tensor<1024xf32>
// CHECK: train.gradient @bucket.1
train.entry @micro_step {
  %c = train.get @c : tensor<2x2xf32>
  %dc = nn.square %c : tensor<2x2xf32>
  train.gradient @c, %dc : tensor<2x2xf32>
  %a = train.get @a : tensor<20x30xf32>
  %b = train.get @b : tensor<30xf32>
  train.gradient @a, %a : tensor<20x30xf32>
  train.gradient @b, %b : tensor<30xf32>
}
