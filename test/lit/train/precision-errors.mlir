// RUN: trainc-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{precision bf16 computes in bf16, found 'f32'}}
train.program @p { model @m optimizer sgd precision bf16 (compute = f32) }

// -----

// expected-error @below {{unknown word 'parameters'; expected params, compute, reduce, buffers, products or keep}}
train.program @p { model @m optimizer sgd precision bf16 (parameters = f32) }

// -----

// expected-error @below {{expected the pattern of parameters' names in quotes, such as keep "*.norm.*" f32}}
train.program @p { model @m optimizer sgd precision bf16 (keep w f32) }

// -----

// expected-error @below {{a pattern has no comma; expected a `keep` for each pattern, and * for a comma in a name}}
train.program @p { model @m optimizer sgd precision bf16 (keep "a,b" f32) }

// -----

// expected-error @below {{expected f32, the one type that parameters are kept in, found 'bf16'}}
train.program @p { model @m optimizer sgd precision bf16 (keep "w" bf16) }

// -----

// expected-error @below {{'params' is given twice}}
train.program @p { model @m optimizer sgd precision bf16 (params = f32, params = f32) }

// -----

// expected-error @below {{'compute' is given twice}}
train.program @p { model @m optimizer sgd precision bf16 (compute = bf16, compute = bf16) }

// -----

// expected-error @below {{'reduce' is given twice}}
train.program @p { model @m optimizer sgd precision bf16 (reduce = f32, reduce = bf16) }

// -----

// expected-error @below {{'buffers' is given twice}}
train.program @p { model @m optimizer sgd precision bf16 (buffers = f32, keep "w" f32, keep "v" f32, buffers = f32) }

// -----

// expected-error @below {{expected f32 or bf16 or f16, found 'fp32'}}
train.program @p { model @m optimizer sgd precision bf16 (reduce = fp32) }

// -----

// expected-error @below {{nothing closes the '(' of precision; expected params, compute, reduce, buffers, products or keep, or ')' after the last of them, found 'steps'}}
train.program @p { model @m optimizer sgd precision bf16 (params = f32, steps 3 }

// -----

// expected-error @below {{nothing closes the '(' of precision; expected params, compute, reduce, buffers, products or keep, or ')' after the last of them, found 'clip'}}
train.program @p { model @m optimizer sgd precision bf16 ( clip 1.0 }

// -----

// expected-error @below {{nothing closes the '(' of precision; expected params, compute, reduce, buffers, products or keep, or ')' after the last of them, found '}'}}
train.program @p { model @m optimizer sgd precision bf16 ( }

// -----

// expected-error @below {{expected bf16 or fp8, found 'f32'}}
train.program @p { model @m optimizer sgd precision bf16 (products = f32) }
