// RUN: trainc-opt --verify-spmd --split-input-file --verify-diagnostics %s

train.program @main { model @m optimizer sgd(lr 0.1) batch 8 ranks 2 }
train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{is left in phase 'spmd', where sums over ranks are collectives (run --shard before)}}
  %sum = train.sum_over_ranks %g : tensor<2xf32>
}

// -----

train.program @main { model @m optimizer sgd(lr 0.1) batch 8 }
train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{has no other rank to meet: the program is for one rank}}
  %p = dist.all_reduce_start %g : tensor<2xf32>
  // expected-error @+1 {{has no other rank to meet: the program is for one rank}}
  %s = dist.wait %p : tensor<2xf32>
}

// -----

train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{is still under way where its value is used; expected a dist.wait between}}
  %p = dist.all_reduce_start %g : tensor<2xf32>
  // expected-note @+1 {{the use}}
  %s = nn.add %p, %g : tensor<2xf32>, tensor<2xf32>
}

// -----

train.entry @micro_step {
  %g = nn.constant 1 : tensor<2xf32>
  // expected-error @+1 {{waits for a value that no collective makes}}
  %s = dist.wait %g : tensor<2xf32>
}
