// RUN: trainc-opt %s --plan-memory -split-input-file -verify-diagnostics

train.state output @out : tensor<4xf32>
train.entry @update {
  %x = train.input "x" micro : tensor<4xf32>
  // expected-error @below {{has no summary of its kernels; run summarise-kernels first}}
  %y = nn.kernel 1 x 4 (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %s = nn.square %a : tensor<4xf32>
    nn.yield %s : tensor<4xf32>
  }
  train.set @out, %y : tensor<4xf32>
}

// -----

train.state output @out : tensor<4xf32>
train.entry @update {
  %x = train.input "x" micro : tensor<4xf32>
  // expected-error @below {{nothing executes it}}
  %y = nn.exp %x : tensor<4xf32>
  train.set @out, %y : tensor<4xf32>
}

// -----

dist.mesh [shard = 2, tensor = 2]
// expected-error @below {{is sharded, but not flat: checkpoints hold parameters and optimizer states whole or in shards of flat states}}
train.state parameter @weight : tensor<8x4xf32> {dist.placement = #dist.placement<tensor = 1>}
train.state output @out : tensor<8x4xf32>
train.entry @update {
  %x = train.get @weight : tensor<8x4xf32>
  train.set @out, %x : tensor<8x4xf32>
}
