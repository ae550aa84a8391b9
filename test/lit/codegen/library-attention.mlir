// RUN: trainc-opt %s --summarise-kernels | FileCheck %s

// Attention alone is left to libraries.
train.program @p { model @m  optimizer sgd  batch 1  library_calls attention }

train.state output @out : tensor<2x3x8xf32>

train.entry @micro_step {
  // CHECK: nn.matmul{{.*}}plan.launches
  %x = train.input "x" micro : tensor<2x3x8xf32>
  %w = train.input "w" micro : tensor<8x8xf32>
  %y = nn.matmul %x, %w : tensor<2x3x8xf32>, tensor<8x8xf32>
  // CHECK: nn.attention {{.*}}plan.library_call
  %o, %lse = nn.attention %y, %y, %y heads 2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  // Libraries have neither windows nor soft caps.
  // CHECK: nn.attention {{.*}}window 2{{.*}}plan.launches
  %a, %lse1 = nn.attention %y, %y, %y heads 2 causal window 2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  // CHECK: nn.attention {{.*}}softcap 2{{.*}}plan.launches
  %b, %lse2 = nn.attention %a, %a, %a heads 2 softcap 2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  train.set @out, %b : tensor<2x3x8xf32>
}
