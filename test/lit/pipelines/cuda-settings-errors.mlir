// RUN: not trainc compile %s -o %t.plan --target=cuda --fp32-products=bf16x3 2>&1 | FileCheck %s -DFILE=%s --check-prefix=BF16X3
// RUN: not trainc compile %s -o %t.plan --target=cuda --cpu=x86-64-v3 2>&1 | FileCheck %s -DFILE=%s --check-prefix=LEVELS
// RUN: not trainc compile %s -o %t.plan --target=cuda --ranks=2048 --zero-stage=2 --hybrid-shard=1024 --precision=bf16 --reduce-type=bf16 2>&1 | FileCheck %s -DFILE=%s --check-prefix=GROUPS
// RUN: not trainc compile %s -o %t.plan --target=cuda --ranks=513 --reproducible=ranks 2>&1 | FileCheck %s -DFILE=%s --check-prefix=RANKS
// RUN: not trainc compile %s -o %t.plan --gpu=h200 2>&1 | FileCheck %s -DFILE=%s --check-prefix=CPU
// RUN: not trainc compile %s -o %t.plan --precision=bf16 --product-type=fp8 2>&1 | FileCheck %s -DFILE=%s --check-prefix=FP8
// RUN: not trainc compile %s -o %t.plan --target=cuda --precision=bf16 --product-type=fp8 --library-calls=attention 2>&1 | FileCheck %s -DFILE=%s --check-prefix=LIBRARY
// RUN: not trainc compile %s -o %t.plan --target=cuda --precision=bf16 --product-type=fp8 --gpu=a100 2>&1 | FileCheck %s -DFILE=%s --check-prefix=A100
// RUN: not trainc compile %s -o %t.plan --target=cuda --precision=bf16 --product-type=fp8 --gpu-levels=sm_90,sm_80 2>&1 | FileCheck %s -DFILE=%s --check-prefix=FP8-LEVELS
// RUN: not trainc compile %s -o %t.plan --target=cuda --gpu=a100 --library-calls=all 2>&1 | FileCheck %s -DFILE=%s --check-prefix=GRADIENT
// RUN: not trainc compile %s -o %t.plan --gpu-levels=sm_90 2>&1 | FileCheck %s -DFILE=%s --check-prefix=GPU-LEVELS
// RUN: not trainc compile %s -o %t.plan --target=cuda --gpu-levels=none,sm_90 2>&1 | FileCheck %s -DFILE=%s --check-prefix=NONE
// RUN: trainc compile %s -o %t.plan --target=cuda --fp32-products=tf32 --gpu-levels=none
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=TF32

// Words that mean nothing on a GPU, or that it has nothing for. Products that may round their factors say so.
// TF32: 2 x 4 x 4, b transposed, tf32

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "fc" %x to 4
  nn.loss "loss" %y
}
// A100: [[FILE]]:[[@LINE+12]]:1: error: product_type (--product-type) fp8 needs a GPU of compute capability 8.9 or higher, and gpu (--gpu) is a100; choose bf16, or name another GPU
// FP8-LEVELS: [[FILE]]:[[@LINE+11]]:1: error: gpu_levels (--gpu-levels) sm_80: product_type (--product-type) fp8 needs compute capability 8.9 or higher; leave that level out, or choose bf16
// GRADIENT: [[FILE]]:[[@LINE+10]]:1: error: library_calls (--library-calls) all leaves attention's gradient to cuDNN, which repeats its bits on compute capability 9 and 10 alone, and gpu (--gpu) is a100; leave library_calls out, choose plain or products, or name another GPU
// FP8: [[FILE]]:[[@LINE+9]]:1: error: product_type (--product-type) fp8 is for GPUs of compute capability 8.9 and higher; target cpu has no such products: choose bf16, or target cuda
// LIBRARY: [[FILE]]:[[@LINE+8]]:1: error: product_type (--product-type) fp8 is left to cuBLASLt: leave library_calls (--library-calls) out, or choose plain, products or all
// NONE: [[FILE]]:[[@LINE+7]]:1: error: gpu_levels (--gpu-levels): expected levels, or none alone, found none,sm_90
// GPU-LEVELS: [[FILE]]:[[@LINE+6]]:1: error: gpu_levels (--gpu-levels) chooses levels of GPUs, which target cpu has no code for; leave it out, or choose target cuda
// RANKS: [[FILE]]:[[@LINE+5]]:1: error: reproducible (--reproducible) ranks sums over at most 512 ranks for target cuda, and there are 513; leave it out: the same ranks repeat their bits
// BF16X3: [[FILE]]:[[@LINE+4]]:1: error: fp32_products (--fp32-products) bf16x3 is for CPUs with AMX; for target cuda choose fma, or tf32, which rounds numbers to 11 significant bits
// LEVELS: [[FILE]]:[[@LINE+3]]:1: error: cpu (--cpu) chooses levels of CPUs, and target cuda makes code for GPUs; leave it out, or choose levels of GPUs (--gpu-levels)
// GROUPS: [[FILE]]:[[@LINE+2]]:1: error: hybrid_shard (--hybrid-shard) sums gradients below f32 (reduce_type, --reduce-type) over groups of at most 512 ranks for target cuda, found 1024; sum them in f32, or make the groups smaller
// CPU: [[FILE]]:[[@LINE+1]]:1: error: gpu (--gpu) names a GPU, which target cpu makes no plans for; leave it out, or choose target cuda
train.program @p { model @m  optimizer sgd  batch 2 }
