// RUN: trainc-check --ranks=4 %s | FileCheck %s

// A mean over elements counts those of all ranks.
// CHECK: PASS ranks=4
nn.model @line(%x: tensor<?x3xf32>, %y: tensor<?x1xf32>) {
  %p = nn.linear "fc" %x to 1
  %d = nn.sub %p, %y
  %e = nn.square %d
  nn.loss "loss" %e
}
train.program @fit { model @line  optimizer sgd(lr 0.1, momentum 0.9)  batch 2 }
