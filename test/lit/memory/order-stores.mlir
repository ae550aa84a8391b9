// RUN: trainc-opt --order-stores %s | FileCheck %s

// The next micro-step reuses the memory of @b first. The disk stores @a first, because @a is the only value written when the disk is free.
// An instruction after the store of @d overwrites @d, so the store stays before this instruction.
// CHECK-LABEL: plan.entry @micro_step
// CHECK: plan.zero <@b + 0> bytes 4096 "next"
// CHECK-NEXT: plan.zero <@a + 0> bytes 4096 "a"
// CHECK-NEXT: plan.copy <@a + 0> to <@disk + 0>
// CHECK-NEXT: plan.zero <@c + 0> bytes 4096 "c"
// CHECK-NEXT: plan.zero <@b + 0> bytes 4096 "b"
// CHECK-NEXT: plan.zero <@d + 0> bytes 4096 "d"
// CHECK-NEXT: plan.copy <@d + 0> to <@disk + 12288>
// CHECK-NEXT: plan.zero <@d + 0> bytes 4096 "over it"
// CHECK-NEXT: plan.copy <@b + 0> to <@disk + 8192>
// CHECK-NEXT: plan.copy <@c + 0> to <@disk + 4096>
plan.arena @scratch bytes 16384
plan.arena @outside in disk bytes 16384 persistent
plan.buffer @disk in @outside at 0 bytes 16384 of f32 optimizer
plan.buffer @a in @scratch at 0 bytes 4096 of f32 activation
plan.buffer @b in @scratch at 4096 bytes 4096 of f32 activation
plan.buffer @c in @scratch at 8192 bytes 4096 of f32 activation
plan.buffer @d in @scratch at 12288 bytes 4096 of f32 activation
plan.entry @micro_step flops 0 {
  plan.zero <@b + 0> bytes 4096 "next"
  plan.zero <@a + 0> bytes 4096 "a"
  plan.copy <@a + 0> to <@disk + 0> bytes 4096 on disk "a"
  plan.zero <@c + 0> bytes 4096 "c"
  plan.copy <@c + 0> to <@disk + 4096> bytes 4096 on disk "c"
  plan.zero <@b + 0> bytes 4096 "b"
  plan.copy <@b + 0> to <@disk + 8192> bytes 4096 on disk "b"
  plan.zero <@d + 0> bytes 4096 "d"
  plan.copy <@d + 0> to <@disk + 12288> bytes 4096 on disk "d"
  plan.zero <@d + 0> bytes 4096 "over it"
}
