// RUN: trainc-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{kind of entry (`@first as KIND`): expected init, begin_step, micro_step, last_micro_step, update, eval, prefill, decode or refresh, found 'first'}}
train.entry @first {}

// -----

// expected-error @below {{found 'step'}}
train.entry @first as step {}

// -----

// expected-error @below {{kind of scalar (`@total as KIND`): expected lr, seed, step, micro, position, slot, loss, grad_norm, finite, targets, eval_loss, eval_targets, step_loss_scale or overflow, found 'total'}}
train.state scalar from_device @total : tensor<f32>

// -----

// expected-error @below {{the scalar loss goes from_device, found 'to_device'}}
train.state scalar to_device @loss : tensor<f32>
