// RUN: trainc compile %s -o %t.plan --target=cuda --precision=bf16 --gpu-levels=none
// RUN: trainc dump %t.plan > %t.txt
// RUN: FileCheck %s --input-file=%t.txt
// RUN: trainc dump %t.plan --code > %t.ptx
// RUN: %python %S/Inputs/kernel_code.py accesses %t.txt %t.ptx tails=100528

// GPT-2's vocabulary: rows of 50257 bf16 numbers and 14 bytes of padding. Products read rows that are aligned to 16 bytes, and kernels
// move 16 bytes at a time.
nn.model @m(%tokens: tensor<?x?xi32>, %labels: tensor<?x?xi32>) {
  %x = nn.embedding "e" %tokens of 50257 by 64
  %y = nn.linear "h" %x to 50257 no_bias
  %nll, %lse = nn.cross_entropy %y, %labels
  nn.loss "loss" %nll
}
train.program @p {
  model @m
  optimizer sgd
  batch 1 x 32
}

// CHECK-LABEL: entry {{last_micro_step|micro_step}}
// CHECK: matrix product 32 x 50257 x 64, {{.*}}out result [[LOGITS:[^ ]+]] rows every 100528 bytes
// CHECK: launch [[KERNEL:rows_[0-9a-f]+]] {{.*}}[[LOGITS]]
// CHECK: matrix product {{.*}}a {{[^ ]+}} rows every 100528 bytes
