// RUN: trainc-check --ranks=2 %s | FileCheck %s

// No rank updates or divides what lies in @mlp; it is a unit all the same.
// CHECK: PASS ranks=2 max_rel_err={{.*}} bound=1.0e-09
nn.block @mlp(%x: tensor<?x8xf32>) {
  %h = nn.linear "up" %x to 12
  %g = nn.gelu %h approximate tanh
  %m = nn.linear "down" %g to 8
  nn.return %m
}
nn.model @m(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) {
  %a = nn.linear "in" %x to 8
  %b = nn.apply @mlp "mlp" (%a)
  %e = nn.mse %b, %y
  nn.loss "loss" %e
}
train.program @p {
  model @m optimizer sgd(lr 0.1) batch 4 ranks 2 wrap "mlp"
  group "mlp.*" frozen
}
