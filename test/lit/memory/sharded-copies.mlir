// RUN: trainc compile %S/../../golden/gpt/gpt.mlir --ranks=2 --zero-stage=3 --compile-to=plan | FileCheck %s
// RUN: trainc compile %S/../../golden/gpt/gpt.mlir --ranks=6 --zero-stage=2 --hybrid-shard=3 --micro-batch=1 --compile-to=plan \
// RUN:   | FileCheck %s --check-prefix=PARTS

// Nothing is copied into what collectives send or out of what they bring: gradients are made in their buckets, parameters read from them. Only the
// loss is, 4 bytes.
// CHECK-LABEL: plan.entry @micro_step
// CHECK: plan.collective reduce_scatter
// CHECK-NOT: plan.copy {{.*}} bytes {{[0-9][0-9]}}
// CHECK-LABEL: plan.entry @eval

// If all ranks compute a whole sum, each rank keeps its shard only: a copy, so that the next sum can reuse the memory.
// PARTS-LABEL: plan.entry @micro_step
// PARTS: plan.collective all_reduce in [replica, shard] [#plan.range<<@[[FIRST:[^ ]*]] + 0> to <@[[FIRST]] + 0> elements 768
// PARTS: plan.copy <@[[FIRST]] + 0 rank_stride 1024 along shard> to <@{{.*}} + 0> bytes 1024 "dist.part" after
// PARTS-LABEL: plan.entry @eval
