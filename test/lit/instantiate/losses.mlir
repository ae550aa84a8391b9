// RUN: trainc-opt %s --instantiate | FileCheck %s

// Each loss has its own normaliser: the weights of its labels, or its number of elements. A reshape changes nothing.
nn.model @m(%x: tensor<?x4xf32>, %labels: tensor<?xi32>, %y: tensor<?x4xf32>) {
  %w = nn.parameter "class_weights" tensor<4xf32> init constant(0.5)
  %nll, %lse = nn.cross_entropy %x, %labels ignore 2 weights %w
  %flat = nn.reshape %nll to [-1, 1]
  %d = nn.sub %x, %y
  %q = nn.square %d
  nn.loss "main" %flat
  nn.loss "aux" %q scale 0.25
}
train.program @p { model @m optimizer sgd batch 2 accumulate 3 }

// CHECK-DAG: train.state scalar from_device @targets : tensor<f32>
// CHECK-DAG: train.state scalar @targets.aux : tensor<f32>

// CHECK-LABEL: train.entry @begin_step
// CHECK:         train.input "labels" step limit 4 ignore 2 : tensor<6xi32>
// CHECK-NOT:     nn.cross_entropy
// CHECK:         %[[WEIGHTS:.*]] = nn.reduce sum %{{.*}} over [0] : tensor<6xf32>
// CHECK:         train.set @targets, %[[WEIGHTS]]
// CHECK:         %[[ELEMENTS:.*]] = nn.constant 24 : tensor<f32>
// CHECK:         train.set @targets.aux, %[[ELEMENTS]]

// CHECK-LABEL: train.entry @micro_step
// CHECK:         train.get @targets :
// CHECK:         nn.reduce sum %{{.*}} over [0, 1] : tensor<2x1xf32>
// CHECK:         %[[MAIN:.*]] = nn.div
// CHECK:         train.get @targets.aux
// CHECK:         nn.reduce sum %{{.*}} over [0, 1] : tensor<2x4xf32>
// CHECK:         %[[MEAN:.*]] = nn.div
// CHECK:         %[[QUARTER:.*]] = nn.constant 0.25
// CHECK:         %[[AUX:.*]] = nn.mul %[[MEAN]], %[[QUARTER]]
// CHECK:         %[[TOTAL:.*]] = nn.add %[[MAIN]], %[[AUX]]
// CHECK:         train.minimize %[[TOTAL]]

// A sample without labels counts in the first loss's place only.
// CHECK-LABEL: train.entry @eval
// CHECK:         train.input "labels" micro limit 4 ignore 2 : tensor<2xi32>
// CHECK:         train.set @eval_loss
// CHECK:         train.set @eval_targets
