// RUN: trainc-opt %s --generate-kernels -verify-diagnostics

// expected-error @below {{has no summaries of kernels; run summarise-kernels first}}
module {}
