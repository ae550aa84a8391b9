// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file -o /dev/null

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-warning @below {{prefetch (--prefetch) does nothing with zero_stage 2, which shards no parameters}}
train.program @p { model @m optimizer sgd batch 2 ranks 2 zero_stage 2 prefetch 2 wrap "model" }

// -----

// A program for one rank may have settings of several ranks, and stage 3 uses all of them.
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
train.program @p { model @m optimizer sgd batch 2 zero_stage 2 prefetch 2 }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
train.program @p { model @m optimizer sgd batch 2 ranks 2 zero_stage 3 prefetch 2 param_persistence_threshold 0 }

// -----

// Stage 0 gathers nothing and divides nothing, stage 1 does both.
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-warning @below {{hybrid_shard (--hybrid-shard) does nothing with zero_stage 0, which shards no states}}
// expected-warning @below {{allgather_bucket_size (--allgather-bucket-size) does nothing with zero_stage 0, which shards no states}}
train.program @p { model @m optimizer sgd batch 2 ranks 4 hybrid_shard 2 allgather_bucket_size 10 reduce_bucket_size 10 }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
train.program @p { model @m optimizer sgd batch 2 ranks 4 zero_stage 1 hybrid_shard 2 allgather_bucket_size 10 }

// -----

// Plain SGD has no moments, which bf16 could hold.
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-warning @below {{optimizer_states (--optimizer-states) bf16 does nothing for sgd without momentum, which has no states; leave it out}}
train.program @p { model @m optimizer sgd batch 2 optimizer_states bf16 }
