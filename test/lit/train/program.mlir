// RUN: trainc-opt %s | FileCheck %s
// RUN: trainc-opt %s | trainc-opt | FileCheck %s
// RUN: trainc-opt %s --mlir-print-op-generic | trainc-opt | FileCheck %s

// CHECK-LABEL: train.program @full {
// CHECK-NEXT:    model @gpt2
// CHECK-NEXT:    optimizer adamw(lr 6e-04, beta2 0.95, weight_decay 0.1)
// CHECK-NEXT:    schedule cosine(warmup 700, minimum 6e-05, total 20000)
// CHECK-NEXT:    clip 1
// CHECK-NEXT:    batch 4 x 1024
// CHECK-NEXT:    ranks 4
// CHECK-NEXT:    zero_stage 2
// CHECK-NEXT:    accumulate 8
// CHECK-NEXT:    eval_batch 16
// CHECK-NEXT:    steps 20000
// CHECK-NEXT:    memory_limit 17179869184
// CHECK-NEXT:    reserve_memory 1181116006
// CHECK-NEXT:    fp32_products bf16x3
// CHECK-NEXT:    library_calls attention
// CHECK-NEXT:    activation_checkpointing full
// CHECK-NEXT:    checkpoint_blocks "layer"
// CHECK-NEXT:    checkpoint_keep "0,50"
// CHECK-NEXT:    checkpoint_rest selective
// CHECK-NEXT:    target cpu
// CHECK-NEXT:    cpu "x86-64-v3,x86-64-v4"
// CHECK-NEXT:    gpu_levels "sm_80,sm_90"
// CHECK-NEXT:    precision fp32
// CHECK-NEXT:    group "*.bias" weight_decay 0
// CHECK-NEXT:    group "h.0.*" lr_scale 0.1 weight_decay 0.2
// CHECK-NEXT:    group "wte.*" frozen
// CHECK-NEXT:    group "wte.0" trained lr_scale 1
// CHECK-NEXT:    export "config.json" {model_type = "gpt2"}
// CHECK-NEXT:  }
train.program @full {
  group "*.bias" weight_decay 0.0
  model @gpt2
  optimizer adamw(lr 6e-4, beta2 0.95, weight_decay 0.1)
  schedule cosine(warmup 700, total 2e4, minimum 6e-5)
  clip 1.0
  batch 4 x 1024
  accumulate 8
  eval_batch 16
  steps 20000
  target cpu  cpu "x86-64-v3,x86-64-v4"  precision fp32  activation_checkpointing full  gpu_levels "sm_80,sm_90"
  fp32_products bf16x3  library_calls attention
  checkpoint_rest selective  checkpoint_keep "0,50"  checkpoint_blocks "layer"
  memory_limit 16GiB  reserve_memory 1.1GiB
  zero_stage 2
  ranks 4
  group "h.0.*" weight_decay 0.2 lr_scale 0.1
  group "wte.*" frozen
  group "wte.0" lr_scale 1 trained
  export "config.json" {model_type = "gpt2"}
}

// CHECK-LABEL: train.program @least {
// CHECK-NEXT:    model @m
// CHECK-NEXT:    optimizer sgd(lr 0.001)
// CHECK-NEXT:    schedule constant
// CHECK-NEXT:  }
train.program @least { model @m optimizer sgd }

// CHECK-LABEL: train.program @one_line {
// CHECK:         optimizer sgd(lr 0.1, momentum 0.9)
// CHECK-NEXT:    schedule linear(warmup 10)
// CHECK-NEXT:    batch 8
train.program @one_line { model @m optimizer sgd(lr 1e-1, momentum 0.9) schedule linear(warmup 10) batch 8 }

// Settings are printed if they are given, even with their default.
// CHECK-LABEL: train.program @fp16 {
// CHECK:         precision fp16
// CHECK-NEXT:    loss_scale 0
// CHECK-NEXT:    loss_scale_init 1024
// CHECK-NEXT:  }
train.program @fp16 { model @m optimizer sgd precision fp16 loss_scale 0 loss_scale_init 1024 }

// The attributes alone.
// CHECK: test.attributes = [#train.optimizer<adam(lr 0.5)>, #train.schedule<constant(warmup 3)>, #train.group<"a" frozen>]
module attributes {test.attributes = [#train.optimizer<adam(lr 0.5)>, #train.schedule<constant(warmup 3)>, #train.group<"a" frozen>]} {}

// A GPU's name is quoted where it has a dash.
// CHECK-LABEL: train.program @gpus {
// CHECK:         gpu "h100-sxm"
train.program @gpus { model @m optimizer sgd target cuda gpu "h100-sxm" }

// CHECK-LABEL: train.program @gpu {
// CHECK:         gpu h200
train.program @gpu { model @m optimizer sgd target cuda gpu "h200" }
