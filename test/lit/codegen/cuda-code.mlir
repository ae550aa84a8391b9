// RUN: trainc compile %s -o %t.plan --target=cuda --precision=bf16 --gpu-levels=none
// RUN: trainc dump %t.plan --code > %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=COPY
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=SCATTER
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=ATTENTION
// RUN: trainc compile %s -o %t.cpu.plan
// RUN: not trainc dump %t.cpu.plan --code 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not trainc dump %t.plan --code --settings 2>&1 | FileCheck %s --check-prefix=BOTH

nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %e = nn.embedding "e" %tokens of 40 by 32
  %qkv = nn.linear "qkv" %e to 96
  %q = nn.slice %qkv dim -1 from 0 size 32
  %k = nn.slice %qkv dim -1 from 32 size 32
  %v = nn.slice %qkv dim -1 from 64 size 32
  %o, %lse = nn.attention %q, %k, %v heads 2 causal
  %l = nn.linear "l" %o to 40
  %nll, %norm = nn.cross_entropy %l, %labels
  nn.loss "loss" %nll
}
train.program @p {
  model @m
  optimizer sgd
  batch 2 x 40
}

// Rows move as vectors.
// CHECK: .version 8.0
// CHECK: .target sm_80
// CHECK: .visible .entry rows_
// CHECK: .reqntid
// CHECK: .global.v4.b32

// COPY: .visible .entry copy_
// COPY: ld.global.v4.b32
// COPY: st.global.v4.b32

// Warps vote on which ids are theirs. Nothing writes the updates meanwhile, so they are read through the cache that is not coherent.
// SCATTER: .visible .entry scatter_pieces_
// SCATTER: vote.sync.ballot.b32
// SCATTER: ld.global.nc.v4.b32
// SCATTER: .visible .entry scatter_{{[0-9a-f]+}}(
// SCATTER: ld.global.nc

// ATTENTION: .visible .entry attention_
// ATTENTION: .reqntid 128
// ATTENTION: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// ATTENTION: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// ATTENTION: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// ATTENTION: .visible .entry attention_grad_kv_

// CPU: expected a plan for target cuda, whose code is text (PTX), found one for target cpu
// BOTH: --settings excludes --code
