// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file -o /dev/null

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-error @below {{offload (--offload): expected words, or none alone, found none,optimizer}}
train.program @p { model @m optimizer sgd batch 2 offload "none,optimizer" }

// -----

// Words about offload do nothing without.
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-warning @below {{offload_to (--offload-to) does nothing without offload (--offload); give that as well, or leave it out}}
// expected-warning @below {{offload_group (--offload-group) does nothing without offload (--offload); give that as well, or leave it out}}
train.program @p { model @m optimizer sgd batch 2 offload "none" offload_to disk offload_group 1MiB memory_limit 1GiB }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
train.program @p { model @m optimizer sgd batch 2 offload "optimizer,activations" offload_to disk offload_group 1MiB }

// -----

// A memory limit may yet decide for it.
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
train.program @p { model @m optimizer sgd batch 2 offload_group 1MiB memory_limit 1GiB }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-error @below {{offload_update (--offload-update) host is for GPUs: the device of target cpu is the host; leave it out, or choose target cuda}}
train.program @p { model @m optimizer adamw(lr 0.1) batch 2 offload "optimizer" offload_update host }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-error @below {{offload_update (--offload-update) host updates moments in the host's memory, found offload_to (--offload-to) disk; choose host there, or leave one of them out}}
train.program @p { model @m optimizer adamw(lr 0.1) batch 2 target cuda offload "optimizer" offload_to disk offload_update host }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-warning @below {{offload_update (--offload-update) does nothing without optimizer among the words of offload (--offload); give that as well, or leave it out}}
train.program @p { model @m optimizer adamw(lr 0.1) batch 2 target cuda offload "parameters" offload_update host }
