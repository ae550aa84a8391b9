// RUN: trainc-opt %s --instantiate | FileCheck %s
// RUN: not trainc compile %s --seq-len=6 -o %t.plan 2>&1 | FileCheck %s --check-prefix=ERROR

// Norms of heads have one weight of a head's width. A zero-centered weight is one less, and starts at 0.
nn.model @m(%x: tensor<?x?xf32>) {
  %n = nn.rms_norm "heads" %x heads 4
  %z = nn.rms_norm "zero" %n zero_centered eps 1e-6
  nn.loss "loss" %z
}
train.program @p { model @m optimizer sgd batch 2 x 8 }

// CHECK-LABEL: train.entry @init
// CHECK:     %[[ONES:.*]] = nn.constant 1 : tensor<2xf32>
// CHECK:     train.set @heads.weight, %[[ONES]]
// CHECK:     %[[ZEROS:.*]] = nn.constant 0 : tensor<8xf32>
// CHECK:     train.set @zero.weight, %[[ZEROS]]
// CHECK-LABEL: train.entry @micro_step
// CHECK:     %[[X:.*]] = train.input "x"
// CHECK:     %[[HEADS:.*]] = nn.reshape %[[X]] to [2, 4, 2]
// CHECK:     %[[ROWS:.*]], %{{.*}} = nn.rms_standardize %[[HEADS]] eps 1e-05
// CHECK:     %[[W:.*]] = train.get @heads.weight
// CHECK:     %[[WEIGHTS:.*]] = nn.broadcast %[[W]] to [2, 4, 2]
// CHECK:     %[[SCALED:.*]] = nn.mul %[[ROWS]], %[[WEIGHTS]]
// CHECK:     nn.reshape %[[SCALED]] to [2, 8]
// CHECK:     %[[Z:.*]] = train.get @zero.weight
// CHECK:     %[[ZERO_WEIGHTS:.*]] = nn.broadcast %[[Z]] to [2, 8]
// CHECK:     %[[PART:.*]] = nn.mul %[[ZERO_ROWS:.*]], %[[ZERO_WEIGHTS]]
// CHECK:     nn.add %[[ZERO_ROWS]], %[[PART]]

// ERROR: norms.mlir:6:8: error: 'nn.rms_norm' op the last dimension of the input, 'tensor<2x6xf32>', is not a multiple of 4 heads
