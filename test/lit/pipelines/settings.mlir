// RUN: trainc compile %s -o %t.plan --ranks=2 --zero-stage=3 --prefetch=3 --memory-limit=1.5GiB --activation-checkpointing=SELECTIVE
// RUN: trainc dump %t.plan --settings | FileCheck %s --match-full-lines -DFILE=%s
// RUN: trainc compile %s -o %t.plan
// RUN: trainc dump %t.plan --settings | FileCheck %s --check-prefix=ALONE -DFILE=%s
// RUN: trainc compile %s --compile-to=model --seq-len=4 --ranks=2 --sync-gradients=step | FileCheck %s --check-prefix=PROGRAM

// Every setting, its value and the source of the value. Options are written into the program before any pass.

nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %e = nn.embedding "e" %tokens of 10 by 8
  %l = nn.linear "l" %e to 10
  %nll, %lse = nn.cross_entropy %l, %labels
  nn.loss "loss" %nll
}
train.program @p {
  model @m
  optimizer adamw(lr 1e-3, weight_decay 0.5)
  batch 2 x 8
  prefetch 2
  wrap "model"
  zero_stage 1
  group "*" weight_decay 0.25
  group "l.bias" frozen
  steps 7
}

// CHECK: model                        @m                                  [[FILE]]:16
// CHECK-NEXT: optimizer                    adamw(lr 0.001, weight_decay 0.5)   [[FILE]]:17
// CHECK-NEXT: schedule                     constant                            default
// CHECK-NEXT: clip                         none                                default
// CHECK-NEXT: group                        "*" weight_decay 0.25               [[FILE]]:22
// CHECK-NEXT: group                        "l.bias" frozen                     [[FILE]]:23
// CHECK-NEXT: micro_batch                  2                                   [[FILE]]:18
// CHECK-NEXT: seq_len                      8                                   [[FILE]]:18
// CHECK-NEXT: ranks                        2                                   --ranks
// CHECK-NEXT: zero_stage                   3                                   --zero-stage
// CHECK-NEXT: wrap                         model                               [[FILE]]:20
// CHECK-NEXT: reshard_after_forward        true                                default
// CHECK-NEXT: max_reuse_distance           {{[0-9]+}} {{ *}}derived: memory_limit
// CHECK-NEXT: prefetch                     3                                   --prefetch
// CHECK-NEXT: max_live_parameters          none                                default
// CHECK-NEXT: limit_all_gathers            2                                   default
// CHECK-NEXT: param_persistence_threshold  100                                 derived: 10 times the model's width
// CHECK-NEXT: reduce_bucket_size           100                                 derived: the square of the model's width
// CHECK-NEXT: allgather_bucket_size        100                                 derived: the square of the model's width
// CHECK-NEXT: hybrid_shard                 2                                   derived: all ranks
// CHECK-NEXT: sync_gradients               micro_step                          derived: zero_stage
// CHECK-NEXT: reproducible                 plan                                default
// CHECK-NEXT: accumulate                   1                                   default
// CHECK-NEXT: eval_batch                   2                                   derived: micro_batch
// CHECK-NEXT: generate_batch               1                                   default
// CHECK-NEXT: steps                        7                                   [[FILE]]:24
// CHECK-NEXT: memory_limit                 1610612736                          --memory-limit
// CHECK-NEXT: reserve_memory               none                                default
// CHECK-NEXT: host_memory                  none                                default
// CHECK-NEXT: fp32_products                fma                                 default
// CHECK-NEXT: library_calls                                                    derived: the kind of target
// CHECK-NEXT: activation_checkpointing     selective                           --activation-checkpointing
// CHECK-NEXT: checkpoint_blocks            outermost                           default
// CHECK-NEXT: checkpoint_keep              0                                   default
// CHECK-NEXT: checkpoint_rest              none                                default
// CHECK-NEXT: target                       cpu                                 default
// CHECK-NEXT: cpu                          all                                 default
// CHECK-NEXT: gpu                          none                                default
// CHECK-NEXT: gpu_levels                   all                                 default
// CHECK-NEXT: precision                    fp32                                default
// CHECK-NEXT: param_type                   f32                                 default
// CHECK-NEXT: reduce_type                  f32                                 default
// CHECK-NEXT: keep_f32                     none                                default
// CHECK-NEXT: product_type                 {{ *}}derived: the type of --precision
// CHECK-NEXT: eval_precision               fp32                                derived: precision
// CHECK-NEXT: optimizer_states             f32                                 default
// CHECK-NEXT: offload                      none                                default
// CHECK-NEXT: offload_to                                                       derived: the kind of target
// CHECK-NEXT: offload_group                16MiB                               default
// CHECK-NEXT: offload_update               device                              default
// CHECK-NEXT: skipped_steps                hold                                default
// CHECK-NEXT: loss_scale                   0                                   default
// CHECK-NEXT: loss_scale_init              65536                               default

// ALONE: zero_stage {{ *}}0 {{ *}}derived: one rank is not sharded
// ALONE: prefetch {{ *}}2 {{ *}}[[FILE]]:19
// ALONE: memory_limit {{ *}}none {{ *}}default

// RUN: trainc compile %s -o %t.plan --precision=bf16
// RUN: trainc dump %t.plan --settings | FileCheck %s --check-prefix=LOW
// RUN: trainc compile %s -o %t.plan --precision=bf16 --eval-precision=fp32
// RUN: trainc dump %t.plan --settings | FileCheck %s --check-prefix=OTHER
// LOW: eval_precision {{ *}}bf16 {{ *}}derived: precision
// OTHER: eval_precision {{ *}}fp32 {{ *}}--eval-precision

// PROGRAM: batch 2 x 4
// PROGRAM-NEXT: ranks 2
// PROGRAM-NEXT: zero_stage 1
// PROGRAM-NEXT: wrap "model"
// PROGRAM-NEXT: prefetch 2
// PROGRAM-NEXT: sync_gradients step
// PROGRAM-NEXT: steps 7
