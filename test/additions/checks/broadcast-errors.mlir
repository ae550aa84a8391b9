// Values that a broadcast cannot take.

dist.mesh [shard = 2]
train.state parameter @w : tensor<8x6xf32> {dist.placement = #dist.placement<shard = 0>}
train.state output @z : tensor<4x6xf32>
train.entry @eval {
  %x = train.input "x" micro {dist.placement = #dist.placement<shard = 1>} : tensor<4x8xf32>
  %w = train.get @w : tensor<8x6xf32>
  %y = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32>
  // expected-error @below {{along axis `shard`: copies a value that is a partial sum; expected a whole one}}
  %0 = dist.broadcast_start %y in shard : tensor<4x6xf32>
  %z = dist.wait %0 : tensor<4x6xf32>
  train.set @z, %z : tensor<4x6xf32>
}

// -----

dist.mesh [shard = 2]
train.state parameter @w : tensor<8x6xf32> {dist.placement = #dist.placement<shard = 0>}
train.state output @z : tensor<8x6xf32>
train.entry @eval {
  %w = train.get @w : tensor<8x6xf32>
  // expected-error @below {{along axis `shard`: copies a value that is sharded along dimension 0; expected a whole one}}
  %0 = dist.broadcast_start %w in shard : tensor<8x6xf32>
  %z = dist.wait %0 : tensor<8x6xf32>
  train.set @z, %z : tensor<8x6xf32>
}
