// RUN: trainc-opt %s --instantiate --mlir-print-debuginfo | FileCheck %s

// Blocks in blocks, repeated; an argument that is the same every time; a scope without a name.
nn.block @inner(%x: tensor<?x4xf32>, %gain: tensor<4xf32>) {
  %y = nn.linear "fc" %x to 4 no_bias
  %z = nn.mul %y, %gain
  nn.return %z
}
nn.block @outer(%x: tensor<?x4xf32>, %gain: tensor<4xf32>) {
  %y = nn.apply @inner "deep" (%x, %gain)
  nn.return %y
}
nn.model @m(%x: tensor<?x4xf32>) {
  %gain = nn.parameter "gain" tensor<4xf32> init constant(2)
  %y = nn.repeat @outer "layers" times 2 (%x, %gain)
  %z = nn.apply @inner "" (%y, %gain)
  %again = nn.use "layers.1.deep.fc.weight"
  %t = nn.matmul %z, %again transposed
  nn.loss "loss" %t
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK:      train.state parameter @gain
// CHECK-NEXT: train.state parameter @layers.0.deep.fc.weight
// CHECK-NEXT: train.state parameter @layers.1.deep.fc.weight
// CHECK-NEXT: train.state parameter @fc.weight
// CHECK-NOT:  train.state parameter

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[X:.*]] = train.input "x"
// CHECK: %[[GAIN:.*]] = train.get @gain
// CHECK: %[[W0:.*]] = train.get @layers.0.deep.fc.weight
// CHECK: %[[Y0:.*]] = nn.matmul %[[X]], %[[W0]] transposed {{.*}} loc(#[[FC:.*]])
// CHECK: %[[G0:.*]] = nn.broadcast %[[GAIN]] to [2, 4]
// CHECK: %[[Z0:.*]] = nn.mul %[[Y0]], %[[G0]] {{.*}} loc(#[[MUL:.*]])
// CHECK: %[[W1:.*]] = train.get @layers.1.deep.fc.weight
// CHECK: %[[Y1:.*]] = nn.matmul %[[Z0]], %[[W1]] transposed
// CHECK: %[[Z1:.*]] = nn.mul %[[Y1]]
// CHECK: %[[W:.*]] = train.get @fc.weight
// CHECK: %[[Y:.*]] = nn.matmul %[[Z1]], %[[W]] transposed
// CHECK: %[[Z:.*]] = nn.mul %[[Y]]
// One value for a parameter that is used twice, so that its gradient is the sum of both uses.
// CHECK-NOT: train.get @layers.1.deep.fc.weight
// CHECK: nn.matmul %[[Z]], %[[W1]] transposed

// Ops name their scopes in their locations.
// CHECK-DAG: #[[FC]] = loc("layers.0.deep.fc"(
// CHECK-DAG: #[[MUL]] = loc("layers.0.deep"(
