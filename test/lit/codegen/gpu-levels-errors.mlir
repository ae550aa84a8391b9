// RUN: not trainc compile %s -o %t.plan --gpu-levels=sm_90 2>&1 | FileCheck %s -DFILE=%s
// RUN: trainc compile %s -o %t.plan --gpu-levels=all
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=ALL
// UNSUPPORTED: ptxas

// Without an assembler, naming a level is an error, and a plan that names none holds PTX.

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "fc" %x to 4
  nn.loss "loss" %y
}
// CHECK: [[FILE]]:[[@LINE+1]]:1: error: gpu_levels (--gpu-levels) sm_90: expected ptxas, which makes machine code of PTX, in $CUDA_PATH/bin, /usr/local/cuda/bin or on the PATH, found none; install CUDA's compiler, or choose none: the driver compiles PTX when a run starts
train.program @p { model @m  optimizer sgd  batch 2  target cuda }

// ALL-NOT: object sm_
// ALL: object compute_80 bytes=
