// RUN: trainc-opt --verify-spmd --split-input-file --verify-diagnostics %s

train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 }
train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{is left in phase 'spmd', where sums and maxima over ranks are collectives (run --shard before)}}
  %sum = train.sum_over_ranks %g : tensor<2xf32>
}

// -----

train.program @main { model @m optimizer sgd(lr 0.1) batch 8 }
train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{names ["shard"]; expected adjacent axes of the module's mesh, 1 rank}}
  %p = dist.all_reduce_start %g in shard : tensor<2xf32>
  %s = dist.wait %p : tensor<2xf32>
}

// -----

dist.mesh [shard = 2]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{is still in flight where its value is used; expected a dist.wait between}}
  %p = dist.all_reduce_start %g in shard : tensor<2xf32>
  // expected-note @+1 {{the use}}
  %s = nn.add %p, %g : tensor<2xf32>, tensor<2xf32>
}

// -----

train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{waits for a value that is not the result of a collective's start}}
  %s = dist.wait %g : tensor<2xf32>
}

// -----

dist.mesh [shard = 2]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xf32>
  // expected-error @+1 {{'tensor<3xf32>' is not an equal shard of 'tensor<8xf32>' along dimension 0}}
  %p = dist.part %g in shard : tensor<8xf32> -> tensor<3xf32>
}

// -----

dist.mesh [shard = 2]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xf32>
  // expected-error @+1 {{'tensor<3xf32>' is not an equal shard of 'tensor<8xf32>' along dimension 0}}
  %p = dist.reduce_scatter_start %g in shard : tensor<8xf32> -> tensor<3xf32>
  %w = dist.wait %p : tensor<3xf32>
}

// -----

dist.mesh [shard = 2]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xf32>
  // expected-error @+1 {{sums 'f32' into 'bf16'; expected 'f32', or f32 for sums of bf16 or f16}}
  %p = dist.reduce_scatter_start %g in shard : tensor<8xf32> -> tensor<4xbf16>
  %w = dist.wait %p : tensor<4xbf16>
}

// -----

dist.mesh [shard = 2]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xf16>
  // expected-error @+1 {{sums 'f16' into 'bf16'; expected 'f16', or f32 for sums of bf16 or f16}}
  %p = dist.reduce_scatter_start %g in shard : tensor<8xf16> -> tensor<4xbf16>
  %w = dist.wait %p : tensor<4xbf16>
}

// -----

dist.mesh [shard = 2]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xbf16>
  // expected-error @+1 {{'tensor<3xf32>' is not an equal shard of 'tensor<8xbf16>' along dimension 0}}
  %p = dist.reduce_scatter_start %g in shard : tensor<8xbf16> -> tensor<3xf32>
  %w = dist.wait %p : tensor<3xf32>
}

// -----

dist.mesh [shard = 2]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xbf16>
  // expected-error @+1 {{is not an equal shard of}}
  %p = dist.all_gather_start %g in shard : tensor<8xbf16> -> tensor<16xf32>
  %w = dist.wait %p : tensor<16xf32>
}

// -----

dist.mesh [shard = 2]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<8x2xf32>
  // expected-error @+1 {{'tensor<8x2xf32>' is not an equal shard of 'tensor<16xf32>' along dimension 0}}
  %p = dist.all_gather_start %g in shard : tensor<8x2xf32> -> tensor<16xf32>
  %w = dist.wait %p : tensor<16xf32>
}

// -----

train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xf32>
  // expected-error @+1 {{puts 8 elements at 8 of 'tensor<15xf32>'}}
  %p = dist.pack %g, %g at [0, 8] : tensor<8xf32>, tensor<8xf32> -> tensor<15xf32>
}

// -----

train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xf32>
  // expected-error @+1 {{puts 4 elements at 9223372036854775807 of 'tensor<8xf32>'}}
  %p = dist.member %g at 9223372036854775807 : tensor<8xf32> -> tensor<2x2xf32>
}

// -----

train.entry @micro_step {
  %g = nn.constant 1 : tensor<8xf32>
  // expected-error @+1 {{begins before the first element}}
  %p = dist.member %g at -1 : tensor<8xf32> -> tensor<2xf32>
}

// -----

train.entry @micro_step {
  %g = nn.constant 1 : tensor<2x4xf32>
  // expected-error @+1 {{'tensor<2x4xf32>' is not a flat tensor with the elements of 'tensor<2xf32>'}}
  %p = dist.member %g at 0 : tensor<2x4xf32> -> tensor<2xf32>
}

// -----

dist.mesh [shard = 2]
train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 }
train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{is waited for 0 times; expected one dist.wait}}
  %p = dist.all_reduce_start %g in shard : tensor<2xf32>
}

// -----

dist.mesh [shard = 2]
train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{is waited for 2 times; expected one dist.wait}}
  %q = dist.all_gather_start %g in shard : tensor<2xf32> -> tensor<4xf32>
  %a = dist.wait %q : tensor<4xf32>
  %b = dist.wait %q : tensor<4xf32>
}
