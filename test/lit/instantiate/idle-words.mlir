// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file -o /dev/null

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-warning @below {{sharding: prefetch does nothing with zero_stage 2, which divides no parameters}}
train.program @p { model @m optimizer sgd batch 2 ranks 2 zero_stage 2 sharding(prefetch = 2, wrap = "model") }

// -----

// One rank may take the words of many, and stage 3 takes all.
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
train.program @p { model @m optimizer sgd batch 2 zero_stage 2 sharding(prefetch = 2) }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
train.program @p { model @m optimizer sgd batch 2 ranks 2 zero_stage 3 sharding(prefetch = 2, persist_below = 0) }
