// RUN: trainc-opt %s --instantiate | FileCheck %s

// Dropout draws in training only, from a stream of its own, at a counter of step and micro-batch.
nn.model @m(%x: tensor<?x4xf32>) {
  %a = nn.dropout "first" %x p 0.25
  %b = nn.dropout "second" %a p 0.25
  %c = nn.dropout "none" %b p 0
  nn.loss "loss" %c
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK-LABEL: train.entry @micro_step
// CHECK: %[[X:.*]] = train.input "x"
// CHECK-DAG: %[[SEED:.*]] = train.get @seed
// CHECK-DAG: %[[STEP:.*]] = train.get @step
// CHECK-DAG: %[[MICRO:.*]] = train.get @micro
// CHECK: %[[U:.*]] = nn.random stream [[FIRST:-?[0-9]+]] seed %[[SEED]] step %[[STEP]] offset %[[MICRO]] : tensor<2x4xf32>
// CHECK: %[[P:.*]] = nn.constant 0.25
// CHECK: %[[KEPT:.*]] = nn.compare ge %[[U]], %[[P]]
// CHECK: %[[SCALE:.*]] = nn.constant 1.3333333333333333
// CHECK: %[[ZERO:.*]] = nn.constant 0 :
// CHECK: %[[MASK:.*]] = nn.select %[[KEPT]], %[[SCALE]], %[[ZERO]]
// CHECK: nn.mul %[[X]], %[[MASK]]
// CHECK-NOT: stream [[FIRST]]
// CHECK: nn.random stream
// CHECK-NOT: nn.random
// CHECK-LABEL: train.entry @eval
// CHECK-NOT: nn.random
