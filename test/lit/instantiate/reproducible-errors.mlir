// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-error @below {{reproducible (--reproducible) ranks sums micro-batches over a binary tree, of which each rank takes an equal subtree: --accumulate must be a power of two, found 6; choose another, and --micro-batch or --ranks for as many samples a step}}
train.program @p { model @m optimizer sgd batch 2 accumulate 6 ranks 2 reproducible ranks }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-error @below {{reproducible (--reproducible) ranks promises the same bits on any number of ranks, but each rank rounds what it sums with reduce_type (--reduce-type) bf16: expected reduce_type f32; leave one of the two out}}
train.program @p { model @m optimizer sgd batch 2 precision bf16 reduce_type bf16 ranks 2 reproducible ranks }
