// RUN: not trainc compile %s --ranks=4 --compile-to=spmd 2>&1 | FileCheck %s
// RUN: not trainc compile %s --ranks=4 --zero-stage=3 --compile-to=spmd 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: trainc compile %s --compile-to=spmd | FileCheck %s --check-prefix=ALONE

// A flat state has at most 2^31 - 1 chunks of 256 elements.

nn.model @m(%x: tensor<?x8xf32>) {
  // CHECK: :[[#@LINE+1]]:8: error: {{.*}} have 2199023255809 elements, expected at most 549755813632 on several ranks; make several parameters
  %w = nn.parameter "w" tensor<1048576x2097152xf32>
  %s = nn.reduce mean %w over [0, 1]
  %y = nn.linear "y" %x to 1
  %z = nn.add %y, %s
  nn.loss "loss" %z
}
train.program @p { model @m optimizer sgd batch 2 }

// ONE: error: parameter "w" has 2199023255552 elements, expected at most 549755813632
// ALONE: train.entry
