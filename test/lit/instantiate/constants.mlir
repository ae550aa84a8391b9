// RUN: trainc-opt %s --instantiate | FileCheck %s
// RUN: trainc-opt %s | trainc-opt --instantiate | FileCheck %s

// Constants and positions with a type are used like other values of a model, and infinity is a number.
nn.model @m(%x: tensor<?x4xf32>, %k: tensor<?x4xi32>) {
  %two = nn.constant 2 : tensor<i32>
  %twice = nn.mul %k, %two
  %column = nn.iota 0 : tensor<4xi32>
  %seen = nn.compare le %column, %twice
  %never = nn.constant -inf
  %gain = nn.parameter "gain" tensor<4xf32>
  %scaled = nn.mul %x, %gain
  %masked = nn.select %seen, %scaled, %never
  %p = nn.softmax %masked
  nn.loss "loss" %p
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[TWO:.*]] = nn.constant 2 : tensor<i32>
// CHECK: %[[TWOS:.*]] = nn.broadcast %[[TWO]] to [2, 4] : tensor<i32>
// CHECK: nn.mul %{{.*}}, %[[TWOS]] : tensor<2x4xi32>, tensor<2x4xi32>
// CHECK: nn.iota 0 : tensor<4xi32>
// CHECK: nn.constant -inf : tensor<f32>
