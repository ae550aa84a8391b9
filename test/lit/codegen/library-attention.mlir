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
  // Libraries have neither windows nor soft caps, biases, sinks and dropout.
  // CHECK: nn.attention {{.*}}window 2{{.*}}plan.launches
  %a, %lse1 = nn.attention %y, %y, %y heads 2 causal window 2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  // CHECK: nn.attention {{.*}}softcap 2{{.*}}plan.launches
  %b, %lse2 = nn.attention %a, %a, %a heads 2 softcap 2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  // CHECK: nn.attention {{.*}}alibi 1{{.*}}plan.launches
  %c, %lse3 = nn.attention %a, %a, %a heads 2 causal alibi 1 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  %s = train.input "s" micro : tensor<2xf32>
  // CHECK: nn.attention {{.*}}sinks{{.*}}plan.launches
  %d, %lse4 = nn.attention %a, %a, %a heads 2 sinks %s : tensor<2xf32> : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  %key = train.input "key" micro : tensor<4xi32>
  // CHECK: nn.attention {{.*}}dropout 0.5{{.*}}plan.launches
  %e, %lse5 = nn.attention %a, %a, %a heads 2 dropout 0.5 dropout_key %key : tensor<4xi32> : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  %bias = train.input "bias" micro : tensor<2x5xf32>
  // CHECK: nn.attention {{.*}}bias{{.*}}plan.launches
  %f, %lse6 = nn.attention %a, %a, %a heads 2 bias %bias : tensor<2x5xf32> : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
  train.set @out, %b : tensor<2x3x8xf32>
}
