// A broadcast of a value that is each rank's own replicates it.

dist.mesh [shard = 2]
train.state parameter @w : tensor<4x8xf32>
train.entry @update {
  %x = train.input "x" micro : tensor<4x8xf32>
  %0 = dist.broadcast_start %x in shard : tensor<4x8xf32>
  %y = dist.wait %0 : tensor<4x8xf32>
  train.set @w, %y : tensor<4x8xf32>
}
