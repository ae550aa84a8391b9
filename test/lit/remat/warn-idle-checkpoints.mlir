// RUN: sed 's/KEEP/50,0/' %s | trainc-opt --warn-idle-checkpoints -o /dev/null 2>&1 | count 0
// RUN: sed 's/KEEP/2x50,0/' %s | trainc-opt --warn-idle-checkpoints -o /dev/null 2>&1 | count 0
// RUN: sed 's/KEEP/3x50,0/' %s | trainc-opt --warn-idle-checkpoints -o /dev/null 2>&1 | FileCheck %s
// RUN: sed 's/KEEP/3x50,0/; s/checkpointing full/checkpointing none/' %s | trainc-opt --warn-idle-checkpoints -o /dev/null 2>&1 | count 0
// RUN: sed 's/KEEP/0/; s/batch 8/batch 8 checkpoint_blocks "layer,mlp"/' %s | trainc-opt --warn-idle-checkpoints -o /dev/null 2>&1 | FileCheck %s --check-prefix=BLOCKS

// Two uses of a block, one after the other. The last number may be of none.
// CHECK: warning: checkpoint_keep (--checkpoint-keep) has numbers for 3 uses of blocks, and one for all further uses; the model has 2 that are recomputed; leave the last numbers out
// BLOCKS: warning: checkpoint_blocks (--checkpoint-blocks): 'mlp' does nothing: the model has no use of that block; leave it out
// BLOCKS-NOT: warning
train.program @p { model @m optimizer sgd batch 8 activation_checkpointing full checkpoint_keep "KEEP" }
train.state scalar from_device @loss : tensor<f32>
train.entry @micro_step {
  %x = train.input "x" micro : tensor<8x16xf32>
  %y = nn.gelu %x : tensor<8x16xf32>
  train.block_use <"h.0", "layer"> from %x to %y : tensor<8x16xf32> to tensor<8x16xf32>
  %z = nn.exp %y : tensor<8x16xf32>
  train.block_use <"h.1", "layer"> from %y to %z : tensor<8x16xf32> to tensor<8x16xf32>
  %loss = nn.reduce sum %z over [0, 1] : tensor<8x16xf32>
  train.set @loss, %loss : tensor<f32>
}
