// RUN: trainc-opt %s --summarise-kernels -verify-diagnostics
// RUN: trainc-opt %s --decompose -verify-diagnostics
// RUN: trainc-opt %s --autodiff -verify-diagnostics
// RUN: trainc-opt %s --chunk-loss -verify-diagnostics
// RUN: trainc-opt %s --fuse -verify-diagnostics
// RUN: trainc-opt %s --plan-memory -verify-diagnostics

// Passes on tensors reject a model's text.

nn.model @m(%x: tensor<?x4xf32>, %labels: tensor<?xi32>) {
  // expected-error @below {{'nn.transpose' op is a model's text, whose types are not known yet; run --instantiate before}}
  %t = nn.transpose %x by [0, 1]
  %y = nn.softmax %t
  %nll, %lse = nn.cross_entropy %y, %labels
  nn.loss "loss" %nll
}
