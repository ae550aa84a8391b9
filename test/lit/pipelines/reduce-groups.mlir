// RUN: trainc compile %S/../../golden/gpt/gpt.mlir --ranks=4 --zero-stage=2 --micro-batch=1 --hybrid-shard=2 --reduce-type=bf16 -o %t.plan
// RUN: trainc dump %t.plan | FileCheck %s
// RUN: trainc compile %S/../../golden/gpt/gpt.mlir --ranks=4 --zero-stage=2 --micro-batch=1 --hybrid-shard=4 --reduce-type=bf16 -o %t.plan
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=FLAT
// RUN: trainc compile %S/../../golden/gpt/gpt.mlir --ranks=4 --zero-stage=2 --micro-batch=1 --hybrid-shard=2 -o %t.plan
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=WIDE

// Sums of bf16 numbers within groups are not rounded: f32 is sent across groups, half of each tensor. One collective moves all buckets of a
// unit.
// CHECK: reduce-scatter over shard {{[^ ]*}} -> [[SUMS:[^ ]*]] bf16 into f32 elements=[[#%d,WHOLE:]], {{[^ ]*}} -> {{[^ ]*}} bf16 into f32 elements
// CHECK: all-reduce over replica [[SUMS]] -> {{[^ ]*}} f32 elements=[[#div(WHOLE,2)]],
// FLAT-NOT: into f32
// FLAT: reduce-scatter over shard {{[^ ]*}} -> {{[^ ]*}} bf16 elements
// FLAT-NOT: into f32
// WIDE-NOT: into f32
// WIDE: reduce-scatter over shard {{[^ ]*}} -> {{[^ ]*}} f32 elements
// WIDE-NOT: into f32
