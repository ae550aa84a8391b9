// RUN: trainc-opt %s --instantiate | FileCheck %s

// A column that is looked up twice takes the smaller limit, and may hold an ignored value only where both ignore it.
// Moving elements changes nothing.
nn.model @m(%ids: tensor<?xi32>, %both: tensor<?xi32>, %loose: tensor<?xi32>) {
  %a = nn.embedding "a" %ids of 9 by 5
  %b = nn.embedding "b" %ids of 7 by 5
  %c = nn.embedding "c" %both of 9 by 5
  %flat = nn.reshape %both to [-1]
  %ab = nn.add %a, %b
  %abc = nn.add %ab, %c
  %n1, %l1 = nn.cross_entropy %abc, %flat
  %wide = nn.convert %loose to f32
  %n = nn.mul %n1, %wide
  nn.loss "loss" %n
}
train.program @p { model @m optimizer sgd batch 2 }

// CHECK-LABEL: train.entry @micro_step
// CHECK: train.input "ids" micro limit 7 ignore 0 : tensor<2xi32>
// CHECK: train.input "both" micro limit 5 ignore 0 : tensor<2xi32>
// CHECK: train.input "loose" micro : tensor<2xi32>
