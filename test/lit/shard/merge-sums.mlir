// RUN: trainc-opt --merge-sums %s | FileCheck %s

// Three numbers that are summed over ranks and then added are added first, and summed once. What somebody else reads stays.
// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[AB:.*]] = nn.add %[[A:.*]], %[[B:.*]] :
// CHECK: %[[ABC:.*]] = nn.add %[[AB]], %[[C:.*]] :
// CHECK: %[[START:.*]] = dist.all_reduce_start %[[ABC]]
// CHECK: %[[TOTAL:.*]] = dist.wait %[[START]]
// CHECK: train.set @total, %[[TOTAL]]
// CHECK: %[[SHARED:.*]] = dist.wait
// CHECK: nn.add %[[SHARED]], %[[SHARED]]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 }
train.state scalar @total : tensor<f32>
train.state scalar @twice : tensor<f32>
train.entry @micro_step {
  %a = nn.constant 1 : tensor<f32>
  %b = nn.constant 2 : tensor<f32>
  %c = nn.constant 3 : tensor<f32>
  %pa = dist.all_reduce_start %a : tensor<f32>
  %sa = dist.wait %pa : tensor<f32>
  %pb = dist.all_reduce_start %b : tensor<f32>
  %sb = dist.wait %pb : tensor<f32>
  %pc = dist.all_reduce_start %c : tensor<f32>
  %sc = dist.wait %pc : tensor<f32>
  %ab = nn.add %sa, %sb : tensor<f32>, tensor<f32>
  %abc = nn.add %ab, %sc : tensor<f32>, tensor<f32>
  train.set @total, %abc : tensor<f32>
  %pd = dist.all_reduce_start %a : tensor<f32>
  %sd = dist.wait %pd : tensor<f32>
  %d = nn.add %sd, %sd : tensor<f32>, tensor<f32>
  train.set @twice, %d : tensor<f32>
}
