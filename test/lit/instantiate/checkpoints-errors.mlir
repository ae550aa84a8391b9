// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file -o /dev/null

// A limit may yet come as an option, so that is looked at here.
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-error @below {{activation_checkpointing (--activation-checkpointing) budget has no memory limit to fit into; expected memory_limit SIZE (--memory-limit=SIZE), or another activation_checkpointing}}
train.program @p { model @m optimizer sgd batch 2 activation_checkpointing budget }

// -----

// Blanks around commas are none of the names'.
nn.block @layer(%x: tensor<?x4xf32>) { nn.return %x }
nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.apply @layer "a" (%x)
  nn.loss "loss" %y
}
// expected-error @below {{checkpoint_blocks (--checkpoint-blocks): there is no block @layers; expected outermost alone, or names of blocks; did you mean 'layer'?}}
train.program @p { model @m optimizer sgd batch 2 activation_checkpointing full checkpoint_blocks " layer , layers" }
