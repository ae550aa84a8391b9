// RUN: env CUDA_PATH=%S/Inputs/cuda trainc compile %s -o %t.plan "--gpu-levels=SM_90, sm_80"
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=TWO
// RUN: trainc dump %t.plan --settings | FileCheck %s --check-prefix=OPTION
// RUN: env CUDA_PATH=%S/Inputs/cuda trainc compile %s -o %t.plan
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=ONE
// RUN: trainc dump %t.plan --settings | FileCheck %s --check-prefix=WORD -DFILE=%s
// RUN: env CUDA_PATH=%S/Inputs/cuda trainc compile %s -o %t.plan --gpu-levels=none
// RUN: trainc dump %t.plan | FileCheck %s --check-prefix=NONE
// RUN: trainc dump %t.plan --code | FileCheck %s --check-prefix=PTX
// RUN: not env CUDA_PATH=%S/Inputs/cuda trainc compile %s -o %t.plan --gpu-levels=all 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: trainc compile %s --compile-to=plan --gpu-levels=none | FileCheck %s --check-prefix=MODULE

// Levels choose machine code, in their order; PTX is in every plan. The assembler is a stand-in.

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "fc" %x to 4
  nn.loss "loss" %y
}
train.program @p {
  model @m
  optimizer sgd
  batch 2
  target cuda
  gpu_levels "sm_90"
}

// TWO-NOT: object
// TWO: object sm_80 bytes=10
// TWO-NEXT: object sm_90 bytes=10
// TWO-NEXT: object compute_80 bytes=
// TWO-NOT: object
// OPTION: {{^}}gpu_levels {{ *}}sm_80,sm_90 {{ *}}--gpu-levels

// ONE-NOT: object
// ONE: object sm_90 bytes=10
// ONE-NEXT: object compute_80 bytes=
// ONE-NOT: object
// WORD: {{^}}gpu_levels {{ *}}sm_90 {{ *}}[[FILE]]:24

// NONE-NOT: object
// NONE: object compute_80 bytes=
// NONE-NOT: object
// PTX: .target sm_80

// OLD: error: code generation: {{.*}}ptxas for sm_100 failed with exit code 255: ptxas fatal: sm_100 is not known

// MODULE: plan.gpu_levels = "none"
