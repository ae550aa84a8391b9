// RUN: trainc-opt %s --order-streams | FileCheck %s

dist.mesh [shard = 2]
plan.training micro_batch 1 accumulate 1 seq_len 1 steps 1 eval_batch 0 constant numbers [0.0, 0.0] peak 1.0 total 0
plan.arena @scratch bytes 1024
plan.buffer @g in @scratch at 0 bytes 64 of f32 gradient
plan.buffer @x in @scratch at 64 bytes 64 of f32 activation
plan.buffer @y in @scratch at 128 bytes 64 of f32 activation
plan.buffer @whole in @scratch at 192 bytes 128 of f32 activation
plan.buffer @reused in @scratch at 256 bytes 64 of f32 activation
plan.arena @disk in disk bytes 4096 persistent
plan.buffer @stored in @disk at 0 bytes 64 of f32 optimizer
plan.arena @blocks bytes 8192
plan.buffer @fetched in @blocks at 0 bytes 4096 of f32 optimizer

// Readers of a sum depend on it, and unrelated instructions do not. A dependency that the stream already has is not named twice.
// CHECK-LABEL: plan.entry @update
plan.entry @update flops 0 {
  // CHECK-NEXT: plan.zero <@g + 0> bytes 64 "g"{{$}}
  plan.zero <@g + 0> bytes 64 "g"
  // CHECK-NEXT: plan.collective {{.*}} "g" after [0]
  plan.collective all_reduce in shard [#plan.range<<@g + 0> to <@g + 0> elements 16 of f32>] "g"
  // CHECK-NEXT: plan.zero <@x + 0> bytes 64 "x"{{$}}
  plan.zero <@x + 0> bytes 64 "x"
  // CHECK-NEXT: plan.copy <@g + 0> to <@y + 0> bytes 64 "y" after [1]
  plan.copy <@g + 0> to <@y + 0> bytes 64 "y"
  // CHECK-NEXT: plan.copy <@g + 0> to <@x + 0> bytes 64 "x"{{$}}
  plan.copy <@g + 0> to <@x + 0> bytes 64 "x"
}

// Memory that is reused: a gather depends on the readers of its memory, and these depend only on the last of two collectives.
// CHECK-LABEL: plan.entry @eval
plan.entry @eval flops 0 {
  // CHECK-NEXT: plan.zero <@reused + 0> bytes 64 "r"{{$}}
  plan.zero <@reused + 0> bytes 64 "r"
  // CHECK-NEXT: plan.collective {{.*}} "w" after [0]
  plan.collective all_gather in shard [#plan.range<<@g + 0> to <@whole + 0> elements 32 of f32>] "w"
  // CHECK-NEXT: plan.collective {{.*}} "x"{{$}}
  plan.collective all_reduce in shard [#plan.range<<@x + 0> to <@x + 0> elements 16 of f32>] "x"
  // CHECK-NEXT: plan.loop count 2 "sum" after [2] {
  plan.loop count 2 "sum" {
    // CHECK-NEXT: plan.copy <@whole + 0 loop_stride 64> to <@y + 0> bytes 32 "w"{{$}}
    plan.copy <@whole + 0 loop_stride 64> to <@y + 0> bytes 32 "w"
    plan.copy <@x + 0> to <@y + 32> bytes 32 "x"
  }
}

// Sums of bf16 numbers take 4 bytes each in f32: writes to the bytes after them do not depend on the collective.
// CHECK-LABEL: plan.entry @refresh
plan.entry @refresh flops 0 {
  // CHECK-NEXT: plan.collective {{.*}} "g"{{$}}
  plan.collective reduce_scatter in shard [#plan.range<<@g + 0> to <@whole + 0> elements 32 of bf16 into f32>] "g"
  // CHECK-NEXT: plan.zero <@g + 64> bytes 4 "behind the numbers"{{$}}
  plan.zero <@g + 64> bytes 4 "behind the numbers"
  // CHECK-NEXT: plan.zero <@whole + 64> bytes 4 "behind the sums"{{$}}
  plan.zero <@whole + 64> bytes 4 "behind the sums"
  // CHECK-NEXT: plan.zero <@whole + 60> bytes 4 "the last sum" after [0]
  plan.zero <@whole + 60> bytes 4 "the last sum"
}

// Numbers from other ranks arrive in a workspace.
// CHECK-LABEL: plan.entry @init
plan.entry @init flops 0 {
  // CHECK-NEXT: plan.collective {{.*}} "g"{{$}}
  plan.collective reduce_scatter in shard [#plan.range<<@g + 0> to <@g + 64> elements 8 of f32 sum @k workspace <@whole + 0> bytes 64>] "g"
  // CHECK-NEXT: plan.zero <@whole + 64> bytes 4 "behind it"{{$}}
  plan.zero <@whole + 64> bytes 4 "behind it"
  // CHECK-NEXT: plan.zero <@whole + 60> bytes 4 "its end" after [0]
  plan.zero <@whole + 60> bytes 4 "its end"
}

// A copy from disk, which fills the last block, overlaps a collective; the offset of the rank's shard depends on the rank.
// CHECK-LABEL: plan.entry @begin_step
plan.entry @begin_step flops 0 {
  // CHECK-NEXT: plan.copy <@stored + 0> to <@fetched + 0> bytes 64 on disk "offloaded"{{$}}
  plan.copy <@stored + 0> to <@fetched + 0> bytes 64 on disk "offloaded"
  // CHECK-NEXT: plan.collective {{.*}} "w"{{$}}
  plan.collective all_gather in shard [#plan.range<<@whole + 0 rank_stride 64 along shard> to <@whole + 0> elements 32 of f32>] "w"
  // CHECK-NEXT: plan.zero <@whole + 0 rank_stride 64 along shard> bytes 64 "w" after [1]
  plan.zero <@whole + 0 rank_stride 64 along shard> bytes 64 "w"
  // CHECK-NEXT: plan.zero <@fetched + 4032> bytes 64 "behind it" after [0]
  plan.zero <@fetched + 4032> bytes 64 "behind it"
}
