// Settings of precision.
// RUN: trainc-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{expected the next setting, found '('; write each setting of precision alone, such as `reduce_type bf16`: fp32_products, precision, param_type, reduce_type, keep_f32, product_type, eval_precision and optimizer_states}}
train.program @p { model @m optimizer sgd precision bf16 (params = f32) }

// -----

// expected-error @below {{unknown word 'param_typ' in train.program; did you mean 'param_type'?}}
train.program @p { model @m optimizer sgd precision bf16 param_typ f32 }

// -----

// expected-error @below {{expected a list in quotes, such as keep_f32 "none"}}
train.program @p { model @m optimizer sgd precision bf16 keep_f32 w }

// -----

// expected-error @below {{'param_type' is given twice}}
train.program @p { model @m optimizer sgd precision bf16 param_type f32 param_type f32 }

// -----

// expected-error @below {{reduce_type: expected f32, bf16 or f16, found 'fp32'}}
train.program @p { model @m optimizer sgd precision bf16 reduce_type fp32 }

// -----

// expected-error @below {{product_type: expected bf16 or fp8, found 'f32'}}
train.program @p { model @m optimizer sgd precision bf16 product_type f32 }
