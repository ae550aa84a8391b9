// RUN: trainc-opt %s -verify-diagnostics -split-input-file

plan.entry @update flops 0 {
  // expected-error @below {{attribute 'ranges' failed to satisfy constraint: ranges with at least 1 elements}}
  plan.collective all_gather in shard [] "h.0"
}

// -----

plan.entry @update flops 0 {
  // expected-error @below {{attribute 'ranges' failed to satisfy constraint: ranges with at least 1 elements}}
  plan.collective all_gather in shard [#plan.operand<@w + 0>] "h.0"
}
