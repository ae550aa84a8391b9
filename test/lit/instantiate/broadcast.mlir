// RUN: trainc-opt %s --instantiate | FileCheck %s

// Operands of elementwise ops are brought to one shape, as in NumPy.
nn.model @m(%x: tensor<?x3x4xf32>, %y: tensor<?x1x4xf32>) {
  %row = nn.parameter "row" tensor<3x1xf32>
  %half = nn.constant 0.5
  %a = nn.add %x, %y
  %b = nn.mul %a, %row
  %c = nn.mul %half, %b
  %positive = nn.compare gt %c, %half
  %d = nn.select %positive, %row, %half
  nn.loss "loss" %d
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[X:.*]] = train.input "x"
// CHECK: %[[Y:.*]] = train.input "y"
// CHECK: %[[ROW:.*]] = train.get @row
// CHECK: %[[HALF:.*]] = nn.constant 0.5 : tensor<f32>
// CHECK: %[[YS:.*]] = nn.broadcast %[[Y]] to [2, 3, 4]
// CHECK: %[[A:.*]] = nn.add %[[X]], %[[YS]] : tensor<2x3x4xf32>, tensor<2x3x4xf32>
// CHECK: %[[ROWS:.*]] = nn.broadcast %[[ROW]] to [2, 3, 4]
// CHECK: %[[B:.*]] = nn.mul %[[A]], %[[ROWS]]
// CHECK: %[[HALVES:.*]] = nn.broadcast %[[HALF]] to [2, 3, 4]
// CHECK: %[[C:.*]] = nn.mul %[[HALVES]], %[[B]]
// CHECK: %[[HALVES2:.*]] = nn.broadcast %[[HALF]] to [2, 3, 4]
// CHECK: %[[POSITIVE:.*]] = nn.compare gt %[[C]], %[[HALVES2]]
// CHECK: nn.select %[[POSITIVE]], %{{.*}}, %{{.*}} : tensor<2x3x4xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
