// RUN: trainc-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{custom op 'train.progrm' is unknown; did you mean 'train.program'?}}
train.progrm @p { model @m optimizer adamw }

// -----

// expected-error @below {{unknown word 'optimiser' in train.program; did you mean 'optimizer'?}}
train.program @p { model @m optimiser adamw }

// -----

// expected-error @below {{train.program lacks 'model'; expected e.g. 'model @gpt2'}}
train.program @p { optimizer adamw }

// -----

// expected-error @below {{train.program lacks 'optimizer'; expected e.g. 'optimizer adamw(lr 6e-4)'}}
train.program @p { model @m }

// -----

// expected-error @below {{'model' is given twice}}
train.program @p { model @m optimizer sgd model @n }

// -----

// expected-error @below {{optimizer: expected adamw, adam, sgd or lion, found 'muon'}}
train.program @p { model @m optimizer muon }

// -----

// expected-error @below {{'adamw' has no setting 'momentum'; it has lr, beta1, beta2, eps and weight_decay}}
train.program @p { model @m optimizer adamw(momentum 0.9) }

// -----

// expected-error @below {{'lr' of 'sgd' is given twice}}
train.program @p { model @m optimizer sgd(lr 0.1, lr 0.2) }

// -----

// expected-error @below {{optimizer: beta2 must be at least 0 and below 1, found 1}}
train.program @p { model @m optimizer adamw(beta2 1.0) }

// -----

// expected-error @below {{optimizer: lr must be 0 or more, found -0.1}}
train.program @p { model @m optimizer adamw(lr -0.1) }

// -----

// expected-error @below {{schedule: expected constant, linear, cosine, cosine_with_restarts, polynomial, one_minus_sqrt, inverse_sqrt, one_cycle or lr_range_test, found 'step'}}
train.program @p { model @m optimizer sgd schedule step }

// -----

// expected-error @below {{'constant' has no setting 'minimum'; it has warmup and warmup_ratio}}
train.program @p { model @m optimizer sgd schedule constant(minimum 0.1) }

// -----

// expected-error @below {{schedule: warmup of 20 steps does not fit into a total of 10}}
train.program @p { model @m optimizer sgd schedule linear(warmup 20, total 10) }

// -----

// expected-error @below {{schedule: 'warmup' must be a whole number of steps up to 1099511627776, found 0.5}}
train.program @p { model @m optimizer sgd schedule linear(warmup 0.5) }

// -----

// expected-error @below {{the schedule's minimum 0.5 exceeds the optimizer's lr 0.1}}
train.program @p { model @m optimizer sgd(lr 0.1) schedule linear(minimum 0.5) }

// -----

// expected-error @below {{group "*.bias" sets nothing; expected lr_scale, weight_decay, frozen or trained}}
train.program @p { model @m optimizer sgd group "*.bias" }

// -----

// expected-error @below {{group "a" is frozen, so lr_scale and weight_decay have no effect}}
train.program @p { model @m optimizer sgd group "a" frozen lr_scale 0.1 }

// -----

// expected-error @below {{group "a": 'frozen' or 'trained' is given once}}
train.program @p { model @m optimizer sgd group "a" frozen trained }

// -----

// expected-error @below {{group "a": 'lr_scale' is given twice}}
train.program @p { model @m optimizer sgd group "a" lr_scale 0.1 lr_scale 0.2 }

// -----

// expected-error @below {{clip must be above 0, found 0}}
train.program @p { model @m optimizer sgd clip 0 }

// -----

// expected-error @below {{batch must lie between 1 and 1048576, found 0}}
train.program @p { model @m optimizer sgd batch 0 }

// -----

// expected-error @below {{accumulate must lie between 1 and 65536, found -2}}
train.program @p { model @m optimizer sgd batch 1 accumulate -2 }

// -----

// expected-error @below {{'export "a.json"' is given twice}}
train.program @p { model @m optimizer sgd export "a.json" {} export "a.json" {} }

// -----

// expected-error @below {{export: expected a plain file name of at most 255 bytes, found "a/b"}}
train.program @p { model @m optimizer adamw export "a/b" {n = 1} }

// -----

// expected-error @below {{lr_scale and weight_decay must be finite, found inf}}
train.program @p { model @m optimizer adamw group "*" lr_scale 0x7FF0000000000000 }

// -----

// expected-error @below {{clip must be finite, found inf}}
train.program @p { model @m optimizer adamw clip 0x7FF0000000000000 }

// -----

// expected-error @below {{schedule: 'warmup' must be a whole number of steps up to 1099511627776, found 0.5}}
train.program @p { model @m optimizer adamw schedule cosine(warmup 0.5) }

// -----

// expected-error @below {{group: the pattern of names is empty}}
train.program @p { model @m optimizer adamw group "" frozen }

// -----

// expected-error @below {{schedule: 'minimum' must be a finite number, 0 or more, found -1}}
train.program @p { model @m optimizer adamw schedule cosine(minimum -1) }

// -----

// expected-error @below {{schedule: warmup of 20 steps does not fit into a total of 10}}
train.program @p { model @m optimizer adamw schedule cosine(warmup 20, total 10) }

// -----

// expected-error @below {{schedule: warmup (steps) and warmup_ratio (share of the total) set the same length; give one of them}}
train.program @p { model @m optimizer adamw schedule cosine(warmup 5, warmup_ratio 0.1) }

// -----

// expected-error @below {{schedule: warmup_ratio must be below 1, so that steps are left after the warmup}}
train.program @p { model @m optimizer adamw schedule cosine(warmup_ratio 1) }

// -----

// expected-error @below {{schedule: warmup_ratio and decay_ratio are more than the whole, 1.2}}
train.program @p { model @m optimizer adamw schedule cosine(warmup_ratio 0.6, decay_ratio 0.6) }

// -----

// expected-error @below {{schedule: a warmup of 90 steps and a decay of 50 do not fit into a total of 100}}
train.program @p { model @m optimizer adamw schedule cosine(warmup 90, decay_ratio 0.5, total 100) }

// -----

// expected-error @below {{schedule: after a warmup of 10 steps, a total of 10 leaves none in which the rate falls}}
train.program @p { model @m optimizer adamw schedule linear(warmup 10, total 10) }

// -----

// expected-error @below {{'total' must be a whole number of steps from 1 to 1099511627776, found 0; leave it out for the steps of the run}}
train.program @p { model @m optimizer adamw schedule cosine(total 0) }

// -----

// expected-error @below {{optimizer: lr must be finite, found nan}}
train.program @p { model @m optimizer sgd(lr 0x7FF8000000000000) }

// -----

// expected-error @below {{'train.program' op attribute 'memory' failed to satisfy constraint: settings of one theme, by name}}
train.program @p attributes {memory = 5 : i64} { model @m optimizer adamw }

// -----

// expected-error @below {{optimizer: weight_decay must be finite, found 1e+39, which is infinite in f32}}
train.program @p { model @m optimizer adamw(weight_decay 1e39) }

// -----

// expected-error @below {{optimizer: lr must be finite, found 1e+39, which is infinite in f32}}
train.program @p { model @m optimizer sgd(lr 1e39) }

// -----

// expected-error @below {{optimizer: beta1 must be at least 0 and below 1, found 0.99999999999, which is 1 in f32}}
train.program @p { model @m optimizer adam(beta1 0.99999999999) }

// -----

// expected-error @below {{optimizer: beta2 must be at least 0 and below 1, found 0.99999999999, which is 1 in f32}}
train.program @p { model @m optimizer adamw(beta2 0.99999999999) }

// -----

// expected-error @below {{optimizer: momentum must be at least 0 and below 1, found 0.99999999999, which is 1 in f32}}
train.program @p { model @m optimizer sgd(momentum 0.99999999999) }

// -----

// expected-error @below {{expected a number of f32, found 1e-60, which is 0 there; write 0, or a larger number}}
train.program @p { model @m optimizer adamw(eps 1e-60) }

// -----

// expected-error @below {{lr_scale and weight_decay must be finite, found 1e+39, which is infinite in f32}}
train.program @p { model @m optimizer adamw group "*" lr_scale 1e39 }

// -----

// expected-error @below {{expected a number of f32, found 1e-60, which is 0 there; write 0, or a larger number}}
train.program @p { model @m optimizer adamw clip 1e-60 }

// -----

// expected-error @below {{expected a number of f32, found 1e-50, which is 0 there; write 0, or a larger number}}
train.program @p { model @m optimizer sgd(lr 1e-50) }

// -----

// expected-error @below {{expected a number of f32, found 1.5e-400, which is 0 there; write 0, or a larger number}}
train.program @p { model @m optimizer sgd(weight_decay 1.5e-400) }

// -----

// expected-error @below {{expected a number in decimal digits, found hexadecimal ones}}
train.program @p { model @m optimizer sgd(lr 0x10) }

// -----

// expected-error @below {{clip must be finite, found 1e+60, which is infinite in f32}}
train.program @p { model @m optimizer adamw clip 1e60 }

// -----

// expected-error @below {{batch must lie between 1 and 1048576, found 1048577}}
train.program @p { model @m optimizer adamw batch 1048577 }

// -----

// expected-error @below {{eval_batch must lie between 1 and 1048576, found 1048577}}
train.program @p { model @m optimizer adamw batch 1 eval_batch 1048577 }

// -----

// expected-error @below {{accumulate must lie between 1 and 65536, found 65537}}
train.program @p { model @m optimizer adamw batch 1 accumulate 65537 }

// -----

// expected-error @below {{'total' must be a whole number of steps from 1 to 1099511627776, found 2e+12}}
train.program @p { model @m optimizer adamw schedule linear(total 2e12) }

// -----

// Settings are wrong where they are written.
train.program @p {
  model @m
  optimizer sgd(lr 0.1)
  // expected-error @below {{the schedule's minimum 0.5 exceeds the optimizer's lr 0.1}}
  schedule linear(minimum 0.5)
  batch 4
}

// -----

train.program @p {
  model @m
  optimizer sgd
  batch 4 x 8
  // expected-error @below {{steps must lie between 1 and}}
  steps 0
}

// -----

train.program @p {
  model @m
  // expected-error @below {{optimizer: beta2 must be at least 0 and below 1, found 1}}
  optimizer adamw(lr 1e-3,
                  beta2 1.0)
}

// -----

// The op's own verification, for what is not written as text.
// expected-error @below {{clip must be above 0, found 0}}
"train.program"() <{sym_name = "p", model = @m, optimizer = #train.optimizer<sgd(lr 0.1)>, schedule = #train.schedule<constant>, clip = 0.0 : f64}> : () -> ()

// -----

train.program @p {
  model @m
  optimizer sgd
  // expected-warning @below {{schedule: a run of 10 steps ends within the warmup of 20, before the rate reaches the optimizer's lr}}
  schedule linear(warmup 20)
  steps 10
}

// -----

train.program @p {
  model @m
  optimizer sgd
  // expected-warning @below {{schedule: a run of 11 steps goes beyond the total of 10, after which the rate is 0 and nothing is trained}}
  schedule cosine(warmup 2, total 10)
  steps 11
}

// -----

// The rate is 0 after the last step only.
train.program @p { model @m optimizer sgd schedule cosine(total 10) steps 10 }

// -----

// A minimum trains on.
train.program @p { model @m optimizer sgd schedule cosine(total 10, minimum 1e-5) steps 11 }

// -----

// The peak is the last step's.
train.program @p { model @m optimizer sgd schedule linear(warmup 10) steps 10 }

// -----

// expected-error @below {{ranks must lie between 1 and 65536, found 0}}
train.program @p { model @m optimizer sgd ranks 0 }

// -----

// expected-error @below {{expected fp32, bf16 or fp16, found 'int8'}}
train.program @p { model @m optimizer sgd precision int8 }

// -----

// expected-error @below {{loss_scale_init must lie between 1 and 1099511627776, found 0}}
train.program @p { model @m optimizer sgd precision fp16 loss_scale_init 0 }

// -----

// expected-error @below {{expected cpu or cuda, found 'tpu'}}
train.program @p { model @m optimizer sgd target tpu }

// -----

// expected-error @below {{expected none, selective, full or budget, found 'most'}}
train.program @p { model @m optimizer sgd activation_checkpointing most }

// -----

// expected-error @below {{checkpoint_keep: expected numbers from 0 to 100 with commas between them, and before a number for several uses their count of at most 65536, as in 48x15,30, found '0,101'}}
train.program @p { model @m optimizer sgd activation_checkpointing full checkpoint_keep "0,101" }

// -----

// expected-error @below {{as in 48x15,30, found '0x50,0'}}
train.program @p { model @m optimizer sgd activation_checkpointing full checkpoint_keep "0x50,0" }

// -----

// expected-error @below {{as in 48x15,30, found '65537x50'}}
train.program @p { model @m optimizer sgd activation_checkpointing full checkpoint_keep "65537x50" }

// -----

// expected-error @below {{as in 48x15,30, found '2x'}}
train.program @p { model @m optimizer sgd activation_checkpointing full checkpoint_keep "2x" }

// -----

// expected-error @below {{as in 48x15,30, found '050'}}
train.program @p { model @m optimizer sgd activation_checkpointing full checkpoint_keep "050" }

// -----

// expected-error @below {{as in 48x15,30, found '2x05'}}
train.program @p { model @m optimizer sgd activation_checkpointing full checkpoint_keep "2x05" }

// -----

// expected-error @below {{as in 48x15,30, found '50,'}}
train.program @p { model @m optimizer sgd activation_checkpointing full checkpoint_keep "50," }

// -----

// expected-error @below {{as in 48x15,30, found '2 x 50'}}
train.program @p { model @m optimizer sgd activation_checkpointing full checkpoint_keep "2 x 50" }

// -----

// expected-error @below {{checkpoint_blocks: expected each word once, found 'layer' twice}}
train.program @p { model @m optimizer sgd activation_checkpointing full checkpoint_blocks "layer, mlp, layer" }

// -----

// expected-error @below {{checkpoint_blocks: expected an element before and after each comma, found 'layer,'}}
train.program @p { model @m optimizer sgd activation_checkpointing full checkpoint_blocks "layer," }

// -----

// expected-error @below {{offload: expected each word once, found 'optimizer' twice}}
train.program @p { model @m optimizer sgd offload "optimizer,optimizer" }

// -----

// expected-error @below {{keep_f32: expected each word once, found 'a' twice}}
train.program @p { model @m optimizer sgd precision bf16 keep_f32 "a, a" }

// -----

// expected-error @below {{expected a list in quotes, such as checkpoint_blocks "outermost"}}
train.program @p { model @m optimizer sgd checkpoint_blocks layer }

// -----

// expected-error @below {{expected fma, bf16x3 or tf32, found 'tf19'}}
train.program @p { model @m optimizer sgd fp32_products tf19 }

// -----

// expected-error @below {{expected none, plain, products, attention or all, found 'some'}}
train.program @p { model @m optimizer sgd library_calls some }

// -----

// expected-error @below {{expected all, native, x86-64-v3, x86-64-v4, x86-64-v4-bf16 or x86-64-v4-amx, found 'x86-64-v5'}}
train.program @p { model @m optimizer sgd cpu "x86-64-v3,x86-64-v5" }

// -----

// expected-error @below {{expected a list in quotes, such as cpu "x86-64-v4-amx"}}
train.program @p { model @m optimizer sgd cpu native }

// -----

// expected-error @below {{expected all, none, sm_80, sm_90 or sm_100, found 'sm_70'}}
train.program @p { model @m optimizer sgd gpu_levels "sm_80,sm_70" }

// -----

// expected-error @below {{expected a number of bytes above 0 and below 8388608TiB in plain digits, such as 16GiB, found 0}}
train.program @p { model @m optimizer sgd memory_limit 0 }

// -----

// expected-error @below {{expected a number of bytes above 0 and below 8388608TiB in plain digits, such as 16GiB, found 9000000000GiB}}
train.program @p { model @m optimizer sgd memory_limit 9000000000GiB }

// -----

// expected-error @below {{zero_stage must lie between 0 and 3, found 4}}
train.program @p { model @m optimizer sgd zero_stage 4 }

// -----

// expected-error @below {{expected KiB, MiB, GiB or TiB (powers of 1024), found GB; write 16GiB}}
train.program @p { model @m optimizer sgd memory_limit 16GB }

// -----

// expected-error @below {{expected KiB, MiB, GiB or TiB (powers of 1024), found G; write 2.5GiB}}
train.program @p { model @m optimizer sgd memory_limit 2.5G }

// -----

// expected-error @below {{expected a number of bytes above 0 and below 8388608TiB in plain digits, such as 16GiB, found 2.5}}
train.program @p { model @m optimizer sgd memory_limit 2.5 }

// -----

// expected-error @below {{memory_limit must be at least 1, found -5}}
"train.program"() <{sym_name = "p", model = @m, optimizer = #train.optimizer<sgd>, schedule = #train.schedule<constant>, memory = #train.settings<{memory_limit = -5 : i64}>}> : () -> ()

// -----

// expected-error @below {{expected fma, bf16x3 or tf32, found 'tf19'}}
"train.program"() <{sym_name = "p", model = @m, optimizer = #train.optimizer<sgd>, schedule = #train.schedule<constant>, precision = #train.settings<{fp32_products = "tf19"}>}> : () -> ()

// -----

// expected-error @below {{prefetch must lie between 0 and 32, found 33}}
train.program @p { model @m  optimizer sgd  prefetch 33 }

// -----

// expected-error @below {{sync_gradients: expected micro_step or step, found 'never'}}
train.program @p { model @m  optimizer sgd  sync_gradients never }

// -----

// expected-error @below {{reproducible: expected plan or ranks, found 'always'}}
train.program @p { model @m  optimizer sgd  reproducible always }

// -----

// expected-error @below {{reproducible (--reproducible) ranks sums gradients over ranks once a step, but sync_gradients (--sync-gradients) is micro_step; leave sync_gradients out, or make it step}}
train.program @p { model @m  optimizer sgd  sync_gradients micro_step  reproducible ranks }

// -----

// expected-error @below {{reshard_after_forward (--reshard-after-forward) false keeps all gathered parameters, max_reuse_distance (--max-reuse-distance) those that are reused soon; leave one of them out}}
train.program @p { model @m  optimizer sgd  reshard_after_forward false  max_reuse_distance 100 }

// -----

// expected-error @below {{hybrid_shard must lie between 2 and 65536, found 1}}
train.program @p { model @m  optimizer sgd  hybrid_shard 1 }

// -----

// expected-error @below {{param_persistence_threshold must be at least 0, found -1}}
train.program @p { model @m  optimizer sgd  param_persistence_threshold -1 }

// -----

// expected-error @below {{wrap: expected blocks, model, names of blocks with commas between them or a number of parameters above 0, found ''}}
train.program @p { model @m  optimizer sgd  wrap "" }

// -----

// expected-error @below {{wrap: expected blocks, model, names of blocks with commas between them or a number of parameters above 0, found 'layer,'}}
train.program @p { model @m  optimizer sgd  wrap "layer," }

// -----

// expected-error @below {{reshard_after_forward: expected false or true, found 'never'}}
train.program @p { model @m  optimizer sgd  reshard_after_forward never }

// -----

// expected-error @below {{'sharding' is not a setting; write each setting of sharding alone, such as `prefetch 2`: ranks, zero_stage, wrap,}}
train.program @p { model @m  optimizer sgd  sharding(max_live = 5) }

// -----

// expected-error @below {{'max_live' is not a setting; write `max_live_parameters`}}
train.program @p { model @m  optimizer sgd  max_live 5 }

// -----

// expected-error @below {{'loss_scale_window' is not a setting; the scale doubles after 2000 steps without overflow}}
train.program @p { model @m  optimizer sgd  loss_scale_window 5 }

// -----

// expected-error @below {{'micro_batch' is not a setting; write `batch B`, or `batch B x T` with tokens per sample}}
train.program @p { model @m  optimizer sgd  micro_batch 5 }

// -----

// expected-error @below {{unknown word 'prefetching' in train.program; did you mean 'prefetch'?}}
train.program @p { model @m  optimizer sgd  prefetching 1 }

// -----

// expected-error @below {{'prefetch' is given twice}}
train.program @p { model @m  optimizer sgd  prefetch 1  prefetch 2 }

// -----

// expected-error @below {{wrap: expected each word once, found 'layer' twice}}
train.program @p { model @m  optimizer sgd  wrap "layer, layer" }

// -----

// expected-error @below {{expected a list in quotes, such as wrap "blocks"}}
train.program @p { model @m  optimizer sgd  wrap 5 }

// -----

train.program @p {
  model @m
  optimizer sgd
  // expected-error @below {{offload_group must be at least 4096, found 1}}
  offload_group 1
}
