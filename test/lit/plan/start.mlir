// RUN: trainc-opt %s | trainc-opt | FileCheck %s

// A collective of one range, and one of two, of which the second's source is the rank's part of its destination.
plan.entry @update flops 0 {
  // CHECK: plan.start all_reduce in all slot 0 [#plan.range<<@loss + 0> to <@loss + 0> elements 1 of f32>] "loss: dist.all_reduce"
  plan.start all_reduce in all slot 0 [#plan.range<<@loss + 0> to <@loss + 0> elements 1 of f32>] "loss: dist.all_reduce"
  // CHECK-NEXT: plan.wait slot 0 "loss"
  plan.wait slot 0 "loss"
  // CHECK-NEXT: plan.start all_gather in shard slot 1
  // CHECK-SAME: [#plan.range<<@matrices + 0> to <@whole + 0> elements 192 of f32>,
  // CHECK-SAME:  #plan.range<<@vectors + 0 rank 64> to <@vectors + 0> elements 64 of bf16>] "h.0: dist.all_gather"
  plan.start all_gather in shard slot 1 [
    #plan.range<<@matrices + 0> to <@whole + 0> elements 192 of f32>,
    #plan.range<<@vectors + 0 rank 64> to <@vectors + 0> elements 64 of bf16>] "h.0: dist.all_gather"
}
