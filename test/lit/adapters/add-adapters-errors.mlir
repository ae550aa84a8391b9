// RUN: trainc-opt %s --instantiate --add-adapters -split-input-file -verify-diagnostics

nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc1" %x to 4
  %b = nn.linear "head" %a to 1
  nn.loss "loss" %b
}
// expected-error @below {{lora "fc" matches no linear layer of model @mlp; did you mean 'fc1'?}}
train.program @fit { model @mlp  optimizer sgd(lr 0.1)  batch 2  lora "fc" }

// -----

nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc1" %x to 4
  %b = nn.linear "head" %a to 1
  nn.loss "loss" %b
}
// expected-error @below {{lora "q_proj" matches no linear layer of model @mlp; its layers are named fc1, head; `*` stands for any text}}
train.program @fit { model @mlp  optimizer sgd(lr 0.1)  batch 2  lora "q_proj" }

// -----

nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc1" %x to 4
  %b = nn.linear "head" %a to 1
  nn.loss "loss" %b
}
// expected-error @below {{lora_modules_to_save "score" matches no layer of model @mlp}}
train.program @fit { model @mlp  optimizer sgd(lr 0.1)  batch 2  lora "fc1"  lora_modules_to_save "score" }

// -----

nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc1" %x to 4
  %b = nn.linear "head" %a to 1
  nn.loss "loss" %b
}
// expected-error @below {{layer 'head' matches both lora and lora_modules_to_save}}
train.program @fit { model @mlp  optimizer sgd(lr 0.1)  batch 2  lora "*"  lora_modules_to_save "head" }

// -----

nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc1" %x to 4
  %b = nn.linear "fc2" %a to 4 layout in_out
  %c = nn.linear "head" %b to 1
  nn.loss "loss" %c
}
// expected-error @below {{the weights of 'fc1' and 'fc2' have different layouts}}
train.program @fit { model @mlp  optimizer sgd(lr 0.1)  batch 2  lora "fc*" }

// -----

nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc1" %x to 4
  %b = nn.linear "head" %a to 1
  nn.loss "loss" %b
}
// expected-error @below {{group "*.lora_C.*" matches no parameter of model @mlp}}
train.program @fit { model @mlp  optimizer sgd(lr 0.1)  batch 2  lora "fc1"  group "*.lora_C.*" lr_scale 2 }

// -----

nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc1" %x to 4
  nn.loss "loss" %a
}
train.program @fit {
  model @mlp
  optimizer sgd(lr 0.1)
  batch 2
  // expected-error @below {{lora_dropout: expected a decimal number from 0 on and below 1, such as 0.05, found '1.5'}}
  lora_dropout 1.5
}

// -----

nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc1" %x to 4
  nn.loss "loss" %a
}
// expected-warning @below {{lora_rank (--lora-rank) does nothing without lora (--lora)}}
train.program @fit { model @mlp  optimizer sgd(lr 0.1)  batch 2  lora_rank 4 }

// -----

// A table without ".weight" at the end of its name is no layer; the shortest name is no exception.
nn.model @raw(%x: tensor<?x4xf32>) {
  %w = nn.parameter "w" tensor<4x4xf32>
  %a = nn.matmul %x, %w transposed
  %b = nn.linear "head" %a to 1
  nn.loss "loss" %b
}
// expected-error @below {{lora "w" matches no linear layer of model @raw; its layers are named head; `*` stands for any text}}
train.program @fit { model @raw  optimizer sgd(lr 0.1)  batch 2  lora "w" }

// -----

nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc1" %x to 4
  nn.loss "loss" %a
}
// expected-warning @below {{the plan evaluates and does not train: all parameters are frozen}}
train.program @fit { model @mlp  optimizer sgd(lr 0.1)  batch 2  lora "fc1"  group "*" frozen }

// -----

// Groups that freeze the whole base model leave the adapter to train: no warning.
nn.model @mlp(%x: tensor<?x4xf32>) {
  %a = nn.linear "fc1" %x to 4
  nn.loss "loss" %a
}
train.program @fit { model @mlp  optimizer sgd(lr 0.1)  batch 2  lora "fc1"  group "*" frozen  group "*.lora_*" trained }
