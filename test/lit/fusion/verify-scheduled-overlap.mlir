// RUN: trainc-opt %s --verify-scheduled -split-input-file -verify-diagnostics
// Faults in the overlap of collectives and computation; test/unit/schedule seeds such faults into whole models.

dist.mesh [shard = 2]
train.state parameter @w : tensor<4xf32>
train.entry @update {
  %w = train.get @w : tensor<4xf32>
  // expected-note @below {{the collective}}
  %p = dist.all_gather_start %w in shard : tensor<4xf32> -> tensor<8xf32>
  %zero = nn.constant 0.0 : tensor<4xf32>
  // expected-error @below {{overwrites what a collective reads until its wait; expected the write after the wait}}
  train.set @w, %zero : tensor<4xf32>
  %g = dist.wait %p : tensor<8xf32>
}

// -----

// A part of the state is the state's bytes too.
dist.mesh [shard = 2]
train.state parameter @w : tensor<8xf32>
train.entry @update {
  %w = train.get @w : tensor<8xf32>
  %part = dist.part %w in shard : tensor<8xf32> -> tensor<4xf32>
  // expected-note @below {{the collective}}
  %p = dist.all_gather_start %part in shard : tensor<4xf32> -> tensor<8xf32>
  %zero = nn.constant 0.0 : tensor<8xf32>
  // expected-error @below {{overwrites what a collective reads until its wait}}
  train.set @w, %zero : tensor<8xf32>
  %g = dist.wait %p : tensor<8xf32>
}

// -----

// While other collectives are in flight, the result of a finished one may be stored, and other states may be written.
dist.mesh [shard = 2]
train.state parameter @w : tensor<4xf32>
train.state gradient @sum : tensor<4xf32>
train.entry @update {
  %w = train.get @w : tensor<4xf32>
  %first = dist.all_reduce_start %w in shard : tensor<4xf32>
  %second = dist.all_gather_start %w in shard : tensor<4xf32> -> tensor<8xf32>
  %s = dist.wait %first : tensor<4xf32>
  train.set @sum, %s : tensor<4xf32>
  %g = dist.wait %second : tensor<8xf32>
  train.set @w, %s : tensor<4xf32>
}

// -----

dist.mesh [shard = 2]
train.state parameter @w : tensor<4xf32>
train.entry @update {
  %w = train.get @w : tensor<4xf32>
  // expected-note @below {{the earlier collective}}
  %first = dist.all_reduce_start %w in shard : tensor<4xf32>
  %second = dist.all_reduce_start %w in shard : tensor<4xf32>
  // expected-error @below {{waits before the wait of an earlier collective; expected waits in the order of starts}}
  %b = dist.wait %second : tensor<4xf32>
  %a = dist.wait %first : tensor<4xf32>
}

// -----

dist.mesh [shard = 2]
train.state parameter @w : tensor<4xf32>
train.entry @update {
  %w = train.get @w : tensor<4xf32>
  // expected-note @below {{the first of them}}
  %first = dist.all_reduce_start %w in shard message 0 : tensor<4xf32>
  %a = dist.wait %first : tensor<4xf32>
  // expected-error @below {{is not adjacent to the others of its message}}
  %second = dist.all_reduce_start %w in shard message 0 : tensor<4xf32>
  %b = dist.wait %second : tensor<4xf32>
}

// -----

dist.mesh [replica = 2, shard = 2]
train.state parameter @w : tensor<4xf32>
train.entry @update {
  %w = train.get @w : tensor<4xf32>
  // expected-note @below {{the first of its message}}
  %first = dist.all_reduce_start %w in shard message 0 : tensor<4xf32>
  // expected-error @below {{shares a message with a collective of another kind or along other axes}}
  %second = dist.all_gather_start %w in shard message 0 : tensor<4xf32> -> tensor<8xf32>
  %a = dist.wait %first : tensor<4xf32>
  %b = dist.wait %second : tensor<8xf32>
}

// -----

dist.mesh [replica = 2, shard = 2]
train.state parameter @w : tensor<4xf32>
train.entry @update {
  %w = train.get @w : tensor<4xf32>
  // expected-note @below {{the first of its message}}
  %first = dist.all_reduce_start %w in shard message 0 : tensor<4xf32>
  // expected-error @below {{shares a message with a collective of another kind or along other axes}}
  %second = dist.all_reduce_start %w in replica message 0 : tensor<4xf32>
  %a = dist.wait %first : tensor<4xf32>
  %b = dist.wait %second : tensor<4xf32>
}

// -----

dist.mesh [shard = 2]
train.state parameter @w : tensor<4xf32>
train.entry @update {
  %w = train.get @w : tensor<4xf32>
  %r = nn.chunks 2 (%a = %w : tensor<4xf32> split 0) -> (tensor<4xf32> split 0) {
    // expected-error @below {{is in a loop; expected it in the entry, where all ranks reach it once}}
    %p = dist.all_reduce_start %a in shard : tensor<2xf32>
    %s = dist.wait %p : tensor<2xf32>
    nn.yield %s : tensor<2xf32>
  }
  train.set @w, %r : tensor<4xf32>
}
