// RUN: trainc-opt %s --summarise-kernels -split-input-file 2> %t.warnings | FileCheck %s
// RUN: FileCheck %s --input-file=%t.warnings --check-prefix=WARNING

// cuDNN computes attention of short numbers by default; gradients, and what it does not have, are kernels.
train.program @p { model @m  optimizer sgd  batch 1  target cuda }

train.state output @out : tensor<2x130x128xbf16>
train.state output @gradient : tensor<2x130x128xbf16>
// CHECK-LABEL: train.entry @default
train.entry @default as micro_step {
  %x = train.input "x" micro : tensor<2x130x128xbf16>
  // CHECK: nn.attention {{.*}}plan.library_call = #plan.library_call_spec<{{.*}}values = bf16{{.*}}workspace_bytes = 1048576
  %o, %lse = nn.attention %x, %x, %x heads 2 causal : tensor<2x130x128xbf16>, tensor<2x130x128xbf16>, tensor<2x130x128xbf16>
  train.set @out, %o : tensor<2x130x128xbf16>
  // CHECK: nn.attention_grad {{.*}}plan.launches
  %dq, %dk, %dv = nn.attention_grad %x, %x, %x, %o, %lse, %x heads 2 kv_heads 2 causal scale 0.125 : tensor<2x130x128xbf16>, tensor<2x130x128xbf16>, tensor<2x130x128xbf16>, tensor<2x130x128xbf16>, tensor<2x2x130xf32>, tensor<2x130x128xbf16>
  train.set @gradient, %dq : tensor<2x130x128xbf16>
}

// -----

// Segments, heads of other sizes, more queries than keys under a mask, a cache, and f32 stay with kernels.
train.program @p { model @m  optimizer sgd  batch 1  target cuda  library_calls all }

train.state output @out : tensor<2x16x64xbf16>
train.state output @odd : tensor<2x16x24xbf16>
train.state output @wide : tensor<2x16x64xf32>
// CHECK-LABEL: train.entry @others
train.entry @others as micro_step {
  %x = train.input "x" micro : tensor<2x16x64xbf16>
  %k = train.input "k" micro : tensor<2x8x64xbf16>
  %s = train.input "segments" micro : tensor<2x16xi32>
  // CHECK-NOT: plan.library_call
  %a, %al = nn.attention %x, %x, %x heads 2 segments %s : tensor<2x16xi32> : tensor<2x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>
  train.set @out, %a : tensor<2x16x64xbf16>
  %o = train.input "o" micro : tensor<2x16x24xbf16>
  %b, %bl = nn.attention %o, %o, %o heads 2 : tensor<2x16x24xbf16>, tensor<2x16x24xbf16>, tensor<2x16x24xbf16>
  train.set @odd, %b : tensor<2x16x24xbf16>
  %c, %cl = nn.attention %x, %k, %k heads 2 causal : tensor<2x16x64xbf16>, tensor<2x8x64xbf16>, tensor<2x8x64xbf16>
  train.set @out, %c : tensor<2x16x64xbf16>
  %y = train.input "y" micro : tensor<2x16x64xf32>
  %d, %dl = nn.attention %y, %y, %y heads 2 : tensor<2x16x64xf32>, tensor<2x16x64xf32>, tensor<2x16x64xf32>
  train.set @wide, %d : tensor<2x16x64xf32>
}

// -----

// Gradients are cuDNN's where they are asked for, until the workspace is too large: 32768 by 32768 by 2 heads.
// WARNING: warning: cuDNN's gradient of attention may use at most 4294967296 bytes of workspace, found 4296278016; a kernel of the plan computes it instead
// WARNING-NOT: expected of cuDNN's
train.program @p { model @m  optimizer sgd  batch 1  target cuda  library_calls attention }

train.state output @gradient : tensor<1x130x128xf16>
train.state output @product : tensor<128x128xf32>
train.state output @long : tensor<1x32768x128xf16>
// CHECK-LABEL: train.entry @gradients
train.entry @gradients as micro_step {
  %x = train.input "x" micro : tensor<1x130x128xf16>
  %lse = train.input "lse" micro : tensor<1x2x130xf32>
  // 130 queries of 2 heads: 1280 bytes of sums, 262144 of scores in blocks of 128, 1 MiB.
  // CHECK: nn.attention_grad {{.*}}plan.library_call = #plan.library_call_spec<{{.*}}values = f16{{.*}}workspace_bytes = 1312000
  %dq, %dk, %dv = nn.attention_grad %x, %x, %x, %x, %lse, %x heads 2 kv_heads 2 scale 0.125 : tensor<1x130x128xf16>, tensor<1x130x128xf16>, tensor<1x130x128xf16>, tensor<1x130x128xf16>, tensor<1x2x130xf32>, tensor<1x130x128xf16>
  train.set @gradient, %dq : tensor<1x130x128xf16>
  // CHECK: nn.matmul {{.*}}plan.launches
  %m = train.input "m" micro : tensor<128x128xf32>
  %p = nn.matmul %m, %m : tensor<128x128xf32>, tensor<128x128xf32>
  train.set @product, %p : tensor<128x128xf32>
  // CHECK: nn.attention_grad {{.*}}plan.launches
  %y = train.input "y" micro : tensor<1x32768x128xf16>
  %ylse = train.input "ylse" micro : tensor<1x2x32768xf32>
  %eq, %ek, %ev = nn.attention_grad %y, %y, %y, %y, %ylse, %y heads 2 kv_heads 2 scale 0.125 : tensor<1x32768x128xf16>, tensor<1x32768x128xf16>, tensor<1x32768x128xf16>, tensor<1x32768x128xf16>, tensor<1x2x32768xf32>, tensor<1x32768x128xf16>
  train.set @long, %eq : tensor<1x32768x128xf16>
}

// -----

// They are cuDNN's where the program names a GPU on which they repeat their bits.
train.program @p { model @m  optimizer sgd  batch 1  target cuda  gpu "h200" }

train.state output @gradient : tensor<1x130x128xbf16>
// CHECK-LABEL: train.entry @named
train.entry @named as micro_step {
  %x = train.input "x" micro : tensor<1x130x128xbf16>
  %lse = train.input "lse" micro : tensor<1x2x130xf32>
  // CHECK: nn.attention_grad {{.*}}plan.library_call
  %dq, %dk, %dv = nn.attention_grad %x, %x, %x, %x, %lse, %x heads 2 kv_heads 2 scale 0.125 : tensor<1x130x128xbf16>, tensor<1x130x128xbf16>, tensor<1x130x128xbf16>, tensor<1x130x128xbf16>, tensor<1x2x130xf32>, tensor<1x130x128xbf16>
  // cuDNN has no gradient of the log-sum-exp.
  // CHECK: nn.attention_grad {{.*}}dlse{{.*}}plan.launches
  %eq, %ek, %ev = nn.attention_grad %x, %x, %x, %x, %lse, %x heads 2 kv_heads 2 scale 0.125 dlse %lse : tensor<1x2x130xf32> : tensor<1x130x128xbf16>, tensor<1x130x128xbf16>, tensor<1x130x128xbf16>, tensor<1x130x128xbf16>, tensor<1x2x130xf32>, tensor<1x130x128xbf16>
  train.set @gradient, %dq : tensor<1x130x128xbf16>
}

// -----

// GPUs of compute capability 8 have none that does.
train.program @p { model @m  optimizer sgd  batch 1  target cuda  gpu "a100" }

train.state output @gradient : tensor<1x130x128xbf16>
// CHECK-LABEL: train.entry @older
train.entry @older as micro_step {
  %x = train.input "x" micro : tensor<1x130x128xbf16>
  %lse = train.input "lse" micro : tensor<1x2x130xf32>
  // CHECK: nn.attention_grad {{.*}}plan.launches
  %dq, %dk, %dv = nn.attention_grad %x, %x, %x, %x, %lse, %x heads 2 kv_heads 2 scale 0.125 : tensor<1x130x128xbf16>, tensor<1x130x128xbf16>, tensor<1x130x128xbf16>, tensor<1x130x128xbf16>, tensor<1x2x130xf32>, tensor<1x130x128xbf16>
  train.set @gradient, %dq : tensor<1x130x128xbf16>
}
