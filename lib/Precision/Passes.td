#ifndef TRAINC_PRECISION_PASSES
#define TRAINC_PRECISION_PASSES

include "mlir/Pass/PassBase.td"

def InsertCasts : Pass<"insert-casts", "::mlir::ModuleOp"> {
  let summary = "lets the forward compute in bf16 or f16 where ops allow it";
  let description = [{
    In a program with `precision bf16`, casts operands of the forward, each op's as it needs them (PrecisionOpInterface). With
    `precision fp16` the same is done with f16.

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

    * Products and attention compute in bf16, and add up in f32.
    * What moves elements, and sums, differences and products of elements, keep the type of what they get. If activations of
      both types meet, bf16 wins. Parameters and constants follow the others. What meets a column of the data is computed in f32.
    * All else computes in f32: losses, statistics of norms and softmax, reductions, functions such as `nn.exp`.

    A parameter is cast once, where it is read, so that all its uses see the same numbers. No cast is made twice. Key-value caches hold bf16.

    With `keep "w" f32` the parameter is read as it is, and the product is one of f32 numbers. Whatever reads such a parameter computes in
    f32. What is moved of it alone counts as the parameter.

    ```mlir
    %w = train.get @w : tensor<64x32xf32>
    %h = nn.matmul %x, %w : tensor<8x64xf32>, tensor<64x32xf32>
    %y = nn.tanh %h : tensor<8x32xf32>
    ```

    With `buffers = bf16` columns of the data are cast where they are read, as parameters are. The entry `begin_step` then reads the
    rounded numbers, too, in f32. Else it stays as it is, as `init` does.

    The entry `eval` computes in the type of `eval_precision`, in which the casts are, or in f32, without any.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def WidenGradients : Pass<"widen-gradients", "::mlir::ModuleOp"> {
  let summary = "keeps the gradients of parameters in f32, in which they are added up";
  let description = [{
    A parameter that the forward reads in bf16 gets a gradient of bf16, which is cast. The op that adds the gradient up has it in f32.

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

    The gradient of a parameter that is held in bf16 becomes f32 in the same way. Sums of several gradients, and moves of their elements, are
    made of f32 as well. A value that others read too is cast instead.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def RoundSaved : Pass<"round-saved", "::mlir::ModuleOp"> {
  let summary = "keeps what the backward reads of the forward in bf16";
  let description = [{
    Some of the forward is computed in f32. What the backward reads of it has to be kept, and would take twice the memory.

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

    The forward itself goes on with the exact numbers. Statistics stay f32: they are small, and much depends on them. These are results in
    f32 of products and attention (the log-sum-exp; products with parameters that are kept in f32), results with fewer elements than the
    operands of ops that compute in f32, and what is made of such alone.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect"];
}

def ScaleOperands : Pass<"scale-operands", "::mlir::ModuleOp"> {
  let summary = "lets the training step multiply matrices in fp8, with a scale for each matrix";
  let description = [{
    In a program with `precision bf16 (products = fp8)`, rounds factors of products to fp8. `f8E4M3FN` ends at 448 and `f8E5M2` at 57344, so each
    factor is divided by a scale first, and the product's sums are multiplied by both scales.

    ```mlir
    %y = nn.matmul %x, %w : tensor<32x64xbf16>, tensor<64x32xbf16>
    ```
    becomes, with the same for `%w`,
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

    * Values and parameters are `f8E4M3FN`, gradients `f8E5M2`. A value that several products read is rounded once. A parameter is rounded
      once more for the backward, so that what ranks have gathered of it need not stay.
    * Chosen are products of activations with a parameter, and those that give their gradients. Sizes k and n are multiples of 16, as tensor
      cores want them. The last products before the loss stay bf16, and so do products of a parameter that `keep` names, which is f32.
      Attention is none of them. Which ops can take fp8, and in which layout, they say themselves (Fp8OpInterface).
    * Scales are powers of two, so that they round nothing. They follow from the largest magnitudes of the last 16 steps. `train.magnitudes`
      says those of this micro-batch, and the pass `optimizer` does the rest.

    Scales and histories are flat states of role `optimizer`. Checkpoints have a scale `fp8_scale.NAME` and 16 numbers `fp8_amax.NAME` of each
    operand. NAME is the scope of the product that reads it first, and what it is there: `h.0.attn.c_attn.value`, `.parameter` or `.gradient`.
    `@init` makes histories 0, and scales 1. Those of gradients begin with 1 over the targets of a step, as a power of two. Evaluation and generation compute in bf16.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def NarrowParameters : Pass<"narrow-parameters", "::mlir::ModuleOp"> {
  let summary = "holds parameters in bf16 alone, if the program says so";
  let description = [{
    In a program with `precision bf16 (params = bf16)`, parameters are states of bf16. What reads them in bf16 reads them as they are.

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

    `@init` draws f32 numbers, and rounds them to the nearest. The update computes in f32 and rounds at random (pass `optimizer`).
    Gradients stay f32. Parameters that the program keeps in f32 (`keep "*.norm.*" f32`) are held in f32.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

def NarrowGradients : Pass<"narrow-gradients", "::mlir::ModuleOp"> {
  let summary = "sums gradients over ranks in bf16 or f16";
  let description = [{
    In a program with `precision bf16 (reduce = bf16)`, rounds each gradient once, before its sum over ranks. `precision fp32` may have a
    `reduce` as well.

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

    A sum of what accumulated in f32 is rounded as a whole. On one rank the same numbers are rounded, and there is no sum. Other sums over ranks,
    such as that of the loss, stay f32.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def WorkingCopies : Pass<"working-copies", "::mlir::ModuleOp"> {
  let summary = "keeps a copy of parameters in bf16, which the forward reads";
  let description = [{
    Parameters are f32, lest small updates be lost. The forward would cast them in each micro-batch, and ranks would send 4 bytes
    an element. So each parameter gets a second state.

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

    A new entry `refresh` makes the copies from what was drawn or read. No checkpoint holds them. With several ranks and `zero_stage` 1 or
    more only the update reads trained parameters themselves. Each rank then keeps the part that it updates. What is gathered is the copy.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::dist::DistDialect", "::trainc::train::TrainDialect"];
}

def ScaleLoss : Pass<"scale-loss", "::mlir::ModuleOp"> {
  let summary = "multiplies the loss that is minimised, lest gradients vanish in f16";
  let description = [{
    The smallest number of f16 is 6e-8, and many gradients are smaller. A program with `precision fp16` minimises a multiple of its loss.

    ```mlir
    train.minimize %loss : tensor<f32>
    ```
    becomes
    ```mlir
    %scale = train.get @loss_scale : tensor<f32>
    %scaled = nn.mul %loss, %scale : tensor<f32>, tensor<f32>
    train.minimize %scaled : tensor<f32>
    ```

    The loss that is reported stays as it is. `@init` sets the state to `loss_scale_init`; the pass `optimizer` divides gradients by it, and
    makes it grow and shrink. With a fixed scale (`loss_scale 1024`) the factor is a constant.
  }];
  let dependentDialects = ["::trainc::nn::NNDialect", "::trainc::train::TrainDialect"];
}

#endif
