// RUN: not trainc compile %s -o %t.plan 2>&1 | FileCheck %s -DFILE=%s
// RUN: not trainc compile %s -o %t.plan --precision=bf16 2>&1 | FileCheck %s -DFILE=%s
// RUN: trainc compile %s -o %t.plan --fp32-products=fma

// A target rejects products that it does not have.

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "fc" %x to 4
  nn.loss "loss" %y
}
// CHECK: [[FILE]]:[[@LINE+1]]:1: error: fp32_products (--fp32-products) tf32 is for tensor cores of GPUs, which round numbers to 11 significant bits; target cpu has no such products: choose fma, or bf16x3 for CPUs with AMX
train.program @p { model @m  optimizer sgd  batch 2  fp32_products tf32 }
