// RUN: trainc-opt --verify-spmd --split-input-file --verify-diagnostics %s

// Without its sum, the product is a term of it.
dist.mesh [shard = 2, tensor = 2]
train.state parameter @w : tensor<8x6xf32> {dist.placement = #dist.placement<tensor = 0, shard = 1>}
train.entry @eval {
  %x = train.input "x" micro {dist.placement = #dist.placement<tensor = 1>} : tensor<4x8xf32>
  %w = train.get @w : tensor<8x6xf32>
  %y = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32>
  // expected-error @below {{along axis `tensor`: reads a partial sum; expected its sum over the ranks}}
  %a = nn.mul %y, %y : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// The rows of the weight are sharded, the columns of x are not.
dist.mesh [shard = 2]
train.state parameter @w : tensor<8x6xf32> {dist.placement = #dist.placement<shard = 0>}
train.entry @eval {
  %x = train.input "x" micro {dist.placement = #dist.placement<>} : tensor<4x8xf32>
  %w = train.get @w : tensor<8x6xf32>
  // expected-error @below {{along axis `shard`: combines a shard with a whole dimension 1 of another operand}}
  %y = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32>
}

// -----

// Each rank's samples are its own, a shard is not.
dist.mesh [shard = 2]
train.state parameter @w : tensor<4x6xf32> {dist.placement = #dist.placement<shard = 0>}
train.entry @eval {
  %x = train.input "x" micro : tensor<4x6xf32>
  %w = train.get @w : tensor<4x6xf32>
  // expected-error @below {{along axis `shard`: combines a shard with a value that is each rank's own}}
  %y = nn.mul %x, %w : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// A parameter is equal on all ranks, or a declared shard.
dist.mesh [shard = 2]
train.state parameter @w : tensor<4xf32>
train.entry @update {
  %x = train.input "x" micro : tensor<4xf32>
  // expected-error @below {{along axis `shard`: gives @w a value that is each rank's own; expected one that is replicated}}
  train.set @w, %x : tensor<4xf32>
}

// -----

dist.mesh [replica = 2, shard = 2]
train.state parameter @w : tensor<2xf32> {dist.placement = #dist.placement<shard = 0>}
train.entry @update {
  %x = train.input "x" micro : tensor<4xf32>
  %0 = dist.reduce_scatter_start %x in shard : tensor<4xf32> -> tensor<2xf32>
  %g = dist.wait %0 : tensor<2xf32>
  // expected-error @below {{along axis `replica`: gives @w a value that is each rank's own; expected one that is replicated}}
  train.set @w, %g : tensor<2xf32>
}

// -----

dist.mesh [shard = 2]
train.state parameter @w : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>}
train.entry @update {
  %w = train.get @w : tensor<4xf32>
  // expected-error @below {{along axis `shard`: sums a value that is sharded along dimension 0; expected terms of one sum}}
  %0 = dist.all_reduce_start %w in shard : tensor<4xf32>
  %s = dist.wait %0 : tensor<4xf32>
}

// -----

dist.mesh [shard = 2]
train.state parameter @w : tensor<4x2xf32> {dist.placement = #dist.placement<shard = 1>}
train.entry @update {
  %w = train.get @w : tensor<4x2xf32>
  // expected-error @below {{along axis `shard`: gathers a value that is sharded along dimension 1; expected shards of dimension 0}}
  %0 = dist.all_gather_start %w in shard : tensor<4x2xf32> -> tensor<8x2xf32>
  %s = dist.wait %0 : tensor<8x2xf32>
}

// -----

dist.mesh [shard = 2]
train.state parameter @w : tensor<4xf32> {dist.placement = #dist.placement<shard = 0>}
train.entry @update {
  %w = train.get @w : tensor<4xf32>
  // expected-error @below {{along axis `shard`: takes the part of a value that is sharded along dimension 0; expected one that is replicated}}
  %0 = dist.part %w in shard : tensor<4xf32> -> tensor<2xf32>
}
