// RUN: trainc-opt %s --instantiate="micro-batch=0" -verify-diagnostics

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-error @below {{--micro-batch must lie between 1 and 1048576, found 0}}
train.program @p { model @m optimizer sgd batch 2 }
