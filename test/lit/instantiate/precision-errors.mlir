// RUN: trainc-opt %s --instantiate -verify-diagnostics -split-input-file -o /dev/null

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "body" %x to 2
  nn.loss "loss" %y
}
// expected-error @below {{keep_f32 (--keep-f32) "bdy.bias" matches no parameter of model @m; `*` stands for any text; did you mean 'body.bias'?}}
train.program @p { model @m optimizer sgd batch 2 precision bf16 keep_f32 "*.weight,bdy.bias" }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "body" %x to 2
  nn.loss "loss" %y
}
// expected-error @below {{keep_f32 (--keep-f32) "q" matches no parameter of model @m; `*` stands for any text; it has body.weight, body.bias}}
train.program @p { model @m optimizer sgd batch 2 precision bf16 keep_f32 "q" }

// -----

nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "body" %x to 2
  nn.loss "loss" %y
}
// expected-warning @below {{keep_f32 (--keep-f32) does nothing with precision fp32, which reads all parameters in f32}}
train.program @p { model @m optimizer sgd batch 2 precision fp32 keep_f32 "*" }

// -----

// An evaluation in bf16 reads what is kept in f32.
nn.model @m(%x: tensor<?x4xf32>) {
  %y = nn.linear "body" %x to 2
  nn.loss "loss" %y
}
train.program @p { model @m optimizer sgd batch 2 precision fp32 keep_f32 "*" eval_precision bf16 }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-warning @below {{fp32_products (--fp32-products) bf16x3 does nothing for products of bf16 numbers, and the plan runs on CPUs with AMX alone; leave it out}}
train.program @p { model @m optimizer sgd batch 2 precision bf16 fp32_products bf16x3 }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-warning @below {{fp32_products (--fp32-products) tf32 does nothing for products of fp16 numbers; leave it out}}
train.program @p { model @m optimizer sgd batch 2 precision fp16 fp32_products tf32 }

// -----

// Evaluation in f32 has such products.
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
train.program @p { model @m optimizer sgd batch 2 precision bf16 eval_precision fp32 fp32_products bf16x3 }

// -----

// An option may yet choose another precision, so these words are looked at here.
nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-error @below {{param_type (--param-type) bf16 holds parameters in bf16, which a program with precision fp16 cannot; expected precision bf16 (--precision=bf16), or param_type f32 (--param-type=f32)}}
train.program @p { model @m optimizer sgd batch 2 precision fp16 param_type bf16 }

// -----

nn.model @m(%x: tensor<?x4xf32>) { nn.loss "loss" %x }
// expected-error @below {{product_type (--product-type) fp8 multiplies matrices in fp8, which a program with precision fp32 cannot; expected precision bf16 (--precision=bf16), or product_type bf16 (--product-type=bf16)}}
train.program @p { model @m optimizer sgd batch 2 target cuda precision fp32 product_type fp8 }
