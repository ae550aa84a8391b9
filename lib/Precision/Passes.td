#ifndef TRAINC_PRECISION_PASSES
#define TRAINC_PRECISION_PASSES

include "mlir/Pass/PassBase.td"

def InsertCasts : Pass<"insert-casts", "::mlir::ModuleOp"> {
  let summary = "casts operands so that the forward computes in bf16 or f16 where ops allow it";
  let description = [{
    In a program with `precision bf16`, casts operands of forward ops to the type that each op needs (PrecisionOpInterface). With `precision
    fp16` the low type is f16.

    ```mlir
    %w = train.get @w : tensor<64x32xf32>
    %h = nn.matmul %x, %w : tensor<8x64xf32>, tensor<64x32xf32>
    %y = nn.tanh %h : tensor<8x32xf32>
    ```
    becomes
    ```mlir
    %w = train.get @w : tensor<64x32xf32>
    %low_w = nn.convert %w to bf16 : tensor<64x32xf32>
    %low_x = nn.convert %x to bf16 : tensor<8x64xf32>
    %h = nn.matmul %low_x, %low_w : tensor<8x64xbf16>, tensor<64x32xbf16>
    %full_h = nn.convert %h to f32 : tensor<8x32xbf16>
    %y = nn.tanh %full_h : tensor<8x32xf32>
    ```

    * Products and attention compute in bf16 with f32 sums.
    * Ops that move elements, and elementwise sums, differences and products, compute in their operands' type. If activations of both types
      meet, bf16 wins. Parameters and constants take the type of the other operands. Ops with a data column compute in f32.
    * An op that updates an operand in place, such as `nn.scatter`, computes in that operand's type.
    * All other ops compute in f32: losses, statistics of norms and softmax, reductions, functions such as `nn.exp`.

    A parameter is cast once, where it is read, so that all its uses get the same numbers. No cast is duplicated. Key-value caches are bf16.

    With `keep "w" f32` the parameter is not cast, and all ops that read it, including products, compute in f32. Values that only move its
    elements count as the parameter.

    ```mlir
    %w = train.get @w : tensor<64x32xf32>
    %h = nn.matmul %x, %w : tensor<8x64xf32>, tensor<64x32xf32>
    %y = nn.tanh %h : tensor<8x32xf32>
    ```

    `init` and `begin_step` are not changed. The entry `eval` is cast to the type of `eval_precision`; for f32 it has no casts.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def WidenGradients : Pass<"widen-gradients", "::mlir::ModuleOp"> {
  let summary = "keeps the f32 sums of parameter gradients unrounded";
  let description = [{
    A parameter that the forward reads in bf16 gets a bf16 gradient, which is cast to f32. The op that sums the gradient has it in f32.

    ```mlir
    %g = nn.matmul %x transposed, %dy : tensor<8x64xbf16>, tensor<8x32xbf16>
    %wide = nn.convert %g to f32 : tensor<64x32xbf16>
    train.gradient @w, %wide : tensor<64x32xf32>
    ```
    becomes
    ```mlir
    %g = nn.matmul %x transposed, %dy to f32 : tensor<8x64xbf16>, tensor<8x32xbf16>
    train.gradient @w, %g : tensor<64x32xf32>
    ```

    The gradient of a parameter that is stored in bf16 becomes f32 in the same way, and so do sums of several gradients and moves of their
    elements. A value with further readers is cast instead.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def RoundSaved : Pass<"round-saved", "::mlir::ModuleOp"> {
  let summary = "keeps activations for the backward in bf16";
  let description = [{
    Some forward values are f32. If the backward reads them, they have to be kept and would take twice the memory of bf16.

    ```mlir
    %y = nn.exp %x : tensor<8x32xf32>             // in the forward
    %dx = nn.mul %dy, %y : tensor<8x32xf32>, tensor<8x32xf32>  // in the backward
    ```
    becomes
    ```mlir
    %y = nn.exp %x : tensor<8x32xf32>
    %saved = nn.convert %y to bf16 : tensor<8x32xf32>
    %wide = nn.convert %saved to f32 : tensor<8x32xbf16>
    %dx = nn.mul %dy, %wide : tensor<8x32xf32>, tensor<8x32xf32>
    ```

    The forward itself reads the exact numbers. Statistics stay f32, because they are small and accuracy depends on them. Statistics are f32
    results of products and attention (the log-sum-exp; products with parameters kept in f32), results with fewer elements than the operands
    of ops that compute in f32, and values derived from statistics alone.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def ScaleOperands : Pass<"scale-operands", "::mlir::ModuleOp"> {
  let summary = "computes matrix products of the training step in fp8, with a scale for each matrix";
  let description = [{
    In a program with `product_type fp8`, rounds factors of products to fp8. The largest number of `f8E4M3FN` is 448, that of
    `f8E5M2` 57344. Each factor is therefore divided by a scale, and the product's sums are multiplied by both scales.

    ```mlir
    %y = nn.matmul %x, %w : tensor<32x64xbf16>, tensor<64x32xbf16>
    ```
    becomes (with the same ops for `%w`)
    ```mlir
    %scales = train.get @fp8_scales.values : tensor<32xf32>
    %inverses = nn.reciprocal %scales : tensor<32xf32>
    ...
    %wide = nn.convert %x to f32 : tensor<32x64xbf16>
    %inverse = dist.member %inverses at 0 : tensor<32xf32> -> tensor<f32>
    %factor = nn.broadcast %inverse to [32, 64] : tensor<f32>
    %divided = nn.mul %wide, %factor : tensor<32x64xf32>, tensor<32x64xf32>
    %x8 = nn.convert %divided to f8E4M3FN : tensor<32x64xf32>
    %sx = dist.member %scales at 0 : tensor<32xf32> -> tensor<f32>
    %w8t = nn.transpose %w8 by [1, 0] : tensor<64x32xf8E4M3FN>
    %y = nn.matmul %x8, %w8t transposed to bf16 scaled %sx, %sw : tensor<f32>, tensor<f32> : tensor<32x64xf8E4M3FN>, tensor<32x32xf8E4M3FN>
    ...
    train.magnitudes %largest of @fp8_scales.values history @fp8_amaxes.values limit 448.0 : tensor<2xf32>
    ```

    * Activations and parameters are `f8E4M3FN`, gradients `f8E5M2`. A value that several products read is rounded once. A parameter is
      rounded again for the backward, so that the gathered parameter need not be kept.
    * The pass applies to products of activations with a parameter, and to the products that give their gradients. Sizes k and n must be
      multiples of 16, as tensor cores require. The last products before the loss, products of a parameter that `keep_f32` names, and attention
      are not rounded to fp8. Fp8OpInterface tells which ops can take fp8, and in which layout.
    * Scales are powers of two, so that scaling is exact. They are derived from the maximum magnitudes of the last 16 steps.
      `train.magnitudes` reports the magnitudes of this micro-batch, and the pass `optimizer` updates histories and scales.

    Scales and histories are flat states of role `optimizer`. Checkpoints store a scale `fp8_scale.NAME` and 16 numbers `fp8_amax.NAME` for
    each operand. NAME is the scope of the operand's first product, and the operand's role there: `h.0.attn.c_attn.value`, `.parameter` or
    `.gradient`.
    `@init` sets histories to 0 and scales to 1, except that the scales of gradients start from 1 / (targets per step), rounded down to a
    power of two. Evaluation and generation compute in bf16.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def NarrowParameters : Pass<"narrow-parameters", "::mlir::ModuleOp"> {
  let summary = "stores parameters in bf16 alone, if the program asks for it";
  let description = [{
    In a program with `param_type bf16`, parameters are bf16 states, and their casts to bf16 are removed.

    ```mlir
    %w = train.get @w : tensor<64x32xf32>
    %low = nn.convert %w to bf16 : tensor<64x32xf32>
    %wide = nn.exp %w : tensor<64x32xf32>
    ```
    becomes
    ```mlir
    %w = train.get @w : tensor<64x32xbf16>
    %all = nn.convert %w to f32 : tensor<64x32xbf16>
    %wide = nn.exp %all : tensor<64x32xf32>
    ```

    `@init` draws f32 numbers and rounds them to nearest even. The update computes in f32 and rounds stochastically (pass `optimizer`).
    Gradients stay f32. Parameters that the program keeps in f32 (`keep "*.norm.*" f32`) are stored in f32.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

def NarrowGradients : Pass<"narrow-gradients", "::mlir::ModuleOp"> {
  let summary = "sums gradients over ranks in bf16 or f16";
  let description = [{
    In a program with `reduce_type bf16`, rounds each gradient once, before its sum over ranks. `reduce_type` is valid with
    `precision fp32` as well.

    ```mlir
    %g = dist.pack %w, %b at [0, 2048] : tensor<64x32xf32>, tensor<32xf32> -> tensor<2304xf32>
    %sum = train.sum_over_ranks %g of @bucket.0 : tensor<2304xf32>
    ```
    becomes
    ```mlir
    %low_w = nn.convert %w to bf16 : tensor<64x32xf32>
    %low_b = nn.convert %b to bf16 : tensor<32xf32>
    %low = dist.pack %low_w, %low_b at [0, 2048] : tensor<64x32xbf16>, tensor<32xbf16> -> tensor<2304xbf16>
    %low_sum = train.sum_over_ranks %low of @bucket.0 : tensor<2304xbf16>
    %sum = nn.convert %low_sum to f32 : tensor<2304xbf16>
    ```

    Gradients accumulated in f32 over micro-batches are rounded once. On one rank the same numbers are rounded, without a sum. Other sums
    over ranks, such as that of the loss, stay f32.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def WorkingCopies : Pass<"working-copies", "::mlir::ModuleOp"> {
  let summary = "keeps a bf16 copy of parameters for the forward";
  let description = [{
    Parameters are f32, so that small updates are not lost. The forward would cast them in each micro-batch, and ranks would send 4 bytes
    per element. Therefore each parameter gets a second state.

    ```mlir
    %w = train.get @w : tensor<64x32xf32>
    %low = nn.convert %w to bf16 : tensor<64x32xf32>
    ...
    train.set @w, %new : tensor<64x32xf32>
    ```
    becomes
    ```mlir
    %low = train.get @working.w : tensor<64x32xbf16>
    ...
    train.set @w, %new : tensor<64x32xf32>
    %copy = nn.convert %new to bf16 : tensor<64x32xf32>
    train.set @working.w, %copy : tensor<64x32xbf16>
    ```

    A new entry `refresh` computes the copies from parameters that were initialised or loaded. Checkpoints do not store copies. On several
    ranks with `zero_stage` 1 or more, only the update reads trained parameters themselves: each rank keeps the shard that it updates, and
    the copy is gathered.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def ScaleLoss : Pass<"scale-loss", "::mlir::ModuleOp"> {
  let summary = "multiplies the minimised loss by a scale, so that gradients do not underflow in f16";
  let description = [{
    The smallest positive f16 number is 6e-8, and many gradients are smaller. A program with `precision fp16` minimises a multiple of its
    loss.

    ```mlir
    train.minimize %loss : tensor<f32>
    ```
    becomes
    ```mlir
    %scale = train.get @loss_scale : tensor<f32>
    %scaled = nn.mul %loss, %scale : tensor<f32>, tensor<f32>
    train.minimize %scaled : tensor<f32>
    ```

    The reported loss is not scaled. `@init` sets the state to `loss_scale_init`; the pass `optimizer` divides gradients by the scale and
    adapts it. With a fixed scale (`loss_scale 1024`) the factor is a constant.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

#endif
