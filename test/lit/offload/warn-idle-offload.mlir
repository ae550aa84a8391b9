// RUN: trainc-opt %s --warn-idle-offload -verify-diagnostics -split-input-file -o /dev/null

// expected-warning @below {{offload (--offload) gradients does nothing: a step accumulates no gradients; leave it out}}
train.program @p { model @m optimizer adamw(lr 0.1) batch 8 offload "optimizer,gradients" }
train.state optimizer on disk @exp_avg.w : tensor<16x1024xf32>
train.state optimizer @exp_avg.b : tensor<64xf32>

// -----

// expected-warning @below {{offload (--offload) optimizer does nothing: each of its states is too small; leave it out}}
train.program @p { model @m optimizer adamw(lr 0.1) batch 8 offload "optimizer" }
train.state optimizer @exp_avg.b : tensor<64xf32>

// -----

// expected-warning @below {{offload (--offload) optimizer does nothing: the optimizer has no states; leave it out}}
// expected-warning @below {{offload (--offload) hidden_activations does nothing: each value is too small, or its copies do not overlap with computation; leave it out}}
train.program @p { model @m optimizer sgd batch 8 offload "optimizer,hidden_activations" }

// -----

// expected-warning @below {{offload (--offload) activations does nothing: each value is too small, or needed too soon for its copies; leave it out}}
train.program @p { model @m optimizer sgd batch 8 offload "activations,parameters" }
train.state parameter on host @w : tensor<16x1024xf32>

// -----

// The step computes from a working copy of the parameter, and only this copy is offloaded.
train.program @p { model @m optimizer sgd batch 8 offload "parameters,activations" }
train.state working on disk @working.w : tensor<16x1024xbf16>
train.state activation on disk @saved : tensor<16x1024xbf16>

// -----

train.program @p { model @m optimizer sgd batch 8 offload "none" }

// -----

// expected-warning @below {{offload_update (--offload-update) host does nothing: no update can run there (docs/explanation/offload.md says which stay); leave it out}}
train.program @p { model @m optimizer adamw(lr 0.1) batch 8 target cuda offload "optimizer" offload_update host }
train.state optimizer on host @exp_avg.w : tensor<16x1024xf32>
