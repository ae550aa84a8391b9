// RUN: trainc-opt --split-input-file --verify-diagnostics %s

// expected-error @below {{has an axis of 0 ranks; expected 1 to 65536}}
dist.mesh [shard = 0]

// -----

// expected-error @below {{mesh: expected axis 'shard' once, found it twice}}
dist.mesh [shard = 2, shard = 3]

// -----

// expected-error @below {{mesh: expected at most 65536 ranks, found replica 65536 x shard 2}}
dist.mesh [replica = 65536, shard = 2]

// -----

dist.mesh [shard = 2]
// expected-error @below {{is not the only mesh of a module}}
dist.mesh [replica = 2]

// -----

dist.mesh [replica = 2, shard = 2, tensor = 2]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xf32>
  // expected-error @below {{names ["replica", "tensor"]; expected adjacent axes of the module's mesh, replica 2 x shard 2 x tensor 2}}
  %p = dist.part %g in [replica, tensor] : tensor<8xf32> -> tensor<2xf32>
}

// -----

dist.mesh [replica = 2, shard = 4]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xf32>
  // expected-error @below {{has 2 shards along shard; expected 4}}
  %p = dist.part %g in shard : tensor<8xf32> -> tensor<4xf32>
}

// -----

// expected-error @below {{expected the number of a dimension, `partial` or `own`, found 'whole'}}
train.state parameter @w : tensor<4xf32> {dist.placement = #dist.placement<shard = whole>}

// -----

// expected-error @below {{placement names an axis twice}}
train.state parameter @w : tensor<4xf32> {dist.placement = #dist.placement<shard = 0, shard = 1>}

// -----

dist.mesh [shard = 2]
// expected-error @below {{is sharded along dimension 1000000; expected a dimension below 1 of 'tensor<4xf32>'}}
train.state parameter @w : tensor<4xf32> {dist.placement = #dist.placement<shard = 1000000>}

// -----

dist.mesh [shard = 2]
// expected-error @below {{has a placement along the axis 'foo'; the module's mesh is}}
train.state parameter @w : tensor<4xf32> {dist.placement = #dist.placement<foo = 0>}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{is sharded along dimension 1; expected a dimension below 1 of 'tensor<4xf32>'}}
  %y = nn.relu %x {dist.placement = #dist.placement<shard = 1>} : tensor<4xf32>
  return
}
