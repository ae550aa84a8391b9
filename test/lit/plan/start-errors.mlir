// RUN: trainc-opt %s -verify-diagnostics -split-input-file

plan.entry @update flops 0 {
  // expected-error @below {{attribute 'ranges' failed to satisfy constraint: ranges with at least 1 elements}}
  plan.start all_gather in shard slot 0 [] "h.0"
}

// -----

plan.entry @update flops 0 {
  // expected-error @below {{attribute 'ranges' failed to satisfy constraint: ranges with at least 1 elements}}
  plan.start all_gather in shard slot 0 [#plan.operand<@w + 0>] "h.0"
}
