// RUN: trainc compile --compile-to=step %s | FileCheck %s
// RUN: trainc compile --compile-to=step --checkpoint-keep=100,0 %s | FileCheck %s --check-prefix=LAST
// RUN: trainc compile --compile-to=step --checkpoint-keep=2x100,0 %s | FileCheck %s --check-prefix=COUNT
// RUN: trainc compile --compile-to=step --checkpoint-keep=4x100,0 %s 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: trainc compile --compile-to=step --checkpoint-keep=100 --checkpoint-rest=selective %s | FileCheck %s --check-prefix=REST
// RUN: trainc compile --compile-to=step --checkpoint-blocks=inner %s | FileCheck %s --check-prefix=INNER
// RUN: not trainc compile --compile-to=step --checkpoint-blocks=layers %s 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: trainc compile --compile-to=step --activation-checkpointing=none --checkpoint-rest=selective %s 2>&1 | FileCheck %s --check-prefix=IDLE
// RUN: trainc compile --compile-to=step --activation-checkpointing=budget --memory-limit=1GiB --checkpoint-keep=50 %s 2>&1 | FileCheck %s --check-prefix=CHOSEN
// RUN: trainc compile --activation-checkpointing=budget --memory-limit=1GiB %s -o %t.plan 2>&1 | FileCheck %s --check-prefix=TOOK
// RUN: not trainc compile --activation-checkpointing=budget --memory-limit=33MiB %s -o %t.plan 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: sed 's/nn.repeat @layer "h" times 3 (%f)/nn.gelu %f/' %s | trainc compile --compile-to=step - 2>&1 | FileCheck %s --check-prefix=NONE

// The recomputed uses of blocks, and the share of each use, given in the program's text and as options.
// CHECK: activation_checkpointing full
// CHECK-LABEL: train.entry @micro_step
// CHECK: train.set @loss
// CHECK-COUNT-3: nn.barrier
// CHECK-NOT: nn.barrier
// LAST: checkpoint_keep "100,0"
// LAST-LABEL: train.entry @micro_step
// LAST: train.set @loss
// LAST-COUNT-2: nn.barrier
// LAST-NOT: nn.barrier
// COUNT: checkpoint_keep "2x100,0"
// COUNT-LABEL: train.entry @micro_step
// COUNT: train.set @loss
// COUNT-COUNT-1: nn.barrier
// COUNT-NOT: nn.barrier
// LONG: warning: checkpoint_keep (--checkpoint-keep) has numbers for 4 uses of blocks, and one for all further uses; the model has 3 that are recomputed; leave the last numbers out
// Cheap ops between the products are recomputed.
// REST: checkpoint_rest selective
// REST-LABEL: train.entry @micro_step
// REST: train.set @loss
// REST: nn.barrier
// REST-NEXT: nn.gelu
// REST-NEXT: nn.square
// The output of the inner block is kept.
// INNER: checkpoint_blocks "inner"
// INNER-LABEL: train.entry @micro_step
// INNER: train.set @loss
// INNER: nn.barrier
// INNER-NEXT: nn.gelu
// NAME: error: checkpoint_blocks (--checkpoint-blocks): there is no block @layers; expected outermost alone, or names of blocks; did you mean 'layer'?
// IDLE: warning: checkpoint_rest (--checkpoint-rest) does nothing with activation_checkpointing none; give --activation-checkpointing=full as well, or leave it out
// CHOSEN: warning: checkpoint_keep (--checkpoint-keep) does nothing with activation_checkpointing budget, which chooses it
// CHOSEN: checkpoint_keep "100"
// TOOK: keep rest {{.*}} verdict
// TOOK-NEXT: * 100 none {{.*}} the fastest that fits
// TOOK: took --checkpoint-keep=100 --checkpoint-rest=none: {{.*}} of 1.00 GiB
// SMALL: MiB too much
// SMALL: error: activation_checkpointing budget: no plan fits into the memory limit of 33.0 MiB (34603008 bytes); the minimum limit is {{[0-9]+}} bytes ({{[0-9.]+}} MiB, of which {{[0-9.]+}} MiB are not part of the plan): {{.*}}; allow that much, or make the micro-batch or the model smaller
// NONE: warning: activation_checkpointing full recomputes blocks, but the model uses none: it keeps everything
nn.block @inner(%x: tensor<?x16xf32>) {
  %g = nn.gelu %x
  %s = nn.square %g
  nn.return %s
}
nn.block @layer(%x: tensor<?x8xf32>) {
  %h = nn.linear "fc" %x to 16
  %g = nn.apply @inner "act" (%h)
  %m = nn.linear "proj" %g to 8
  %y = nn.add %x, %m
  nn.return %y
}
nn.model @m(%x: tensor<?x8xf32>, %t: tensor<?x8xf32>) {
  %f = nn.linear "first" %x to 8
  %h = nn.repeat @layer "h" times 3 (%f)
  %y = nn.linear "last" %h to 8
  %d = nn.sub %y, %t
  %l = nn.square %d
  nn.loss "loss" %l
}
train.program @p { model @m optimizer sgd batch 4 activation_checkpointing full }
