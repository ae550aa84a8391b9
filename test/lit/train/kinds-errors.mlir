// RUN: trainc-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{'first' is no kind of entry; expected one of init, begin_step, micro_step, last_micro_step, update, eval, prefill, decode, refresh, or `@first as KIND`}}
train.entry @first {}

// -----

// expected-error @below {{'step' is no kind of entry}}
train.entry @first as step {}

// -----

// expected-error @below {{'total' is no kind of scalar; expected one of lr, seed, step, micro, position, loss, grad_norm, finite, targets, eval_loss, eval_targets, step_loss_scale, overflow, or `@total as KIND`}}
train.state scalar from_device @total : tensor<f32>

// -----

// expected-error @below {{the scalar loss goes from_device, found 'to_device'}}
train.state scalar to_device @loss : tensor<f32>
