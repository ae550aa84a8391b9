// RUN: trainc-opt %s | trainc-opt | FileCheck %s

// A collective of one range; one of two ranges, where the source of the second is the rank's shard of its destination; and sums that are not
// rounded, which a kernel may compute.
// CHECK: plan.arena @states in disk bytes 4096 persistent
dist.mesh [shard = 2]
plan.arena @states in disk bytes 4096 persistent
plan.entry @update flops 0 {
  // CHECK: plan.collective all_reduce in shard [#plan.range<<@loss + 0> to <@loss + 0> elements 1 of f32>] "loss: dist.all_reduce"
  plan.collective all_reduce in shard [#plan.range<<@loss + 0> to <@loss + 0> elements 1 of f32>] "loss: dist.all_reduce"
  // CHECK-NEXT: plan.copy <@m + 0> to <@staged + 0> bytes 4096 on disk "m"
  plan.copy <@m + 0> to <@staged + 0> bytes 4096 on disk "m"
  // CHECK-NEXT: plan.zero <@loss + 0> bytes 4 "loss" after [0, 1]
  plan.zero <@loss + 0> bytes 4 "loss" after [0, 1]
  // CHECK-NEXT: plan.collective all_gather in shard
  // CHECK-SAME: [#plan.range<<@matrices + 0> to <@whole + 0> elements 192 of f32>,
  // CHECK-SAME:  #plan.range<<@vectors + 0 rank_stride 64 along shard> to <@vectors + 0> elements 64 of bf16>] "h.0: dist.all_gather" after [2]
  plan.collective all_gather in shard [
    #plan.range<<@matrices + 0> to <@whole + 0> elements 192 of f32>,
    #plan.range<<@vectors + 0 rank_stride 64 along shard> to <@vectors + 0> elements 64 of bf16>] "h.0: dist.all_gather" after [2]
  // CHECK-NEXT: plan.collective reduce_scatter in shard [#plan.range<<@low + 0> to <@sums + 0> elements 64 of bf16 into f32>] "g"
  plan.collective reduce_scatter in shard [#plan.range<<@low + 0> to <@sums + 0> elements 64 of bf16 into f32>] "g"
  // CHECK-NEXT: [#plan.range<<@low + 0> to <@sums + 0> elements 64 of bf16 into f32 sum @rank_sum workspace <@sent + 0> bytes 64>] "g"
  plan.collective reduce_scatter in shard [
    #plan.range<<@low + 0> to <@sums + 0> elements 64 of bf16 into f32 sum @rank_sum workspace <@sent + 0> bytes 64>] "g"
}
