// Ops that move or combine elements: reductions, broadcasts and changes of shape.

#ifndef TRAINC_NN_SHAPE
#define TRAINC_NN_SHAPE

include "dialects/NN/NNBase.td"

class NN_ShapeOp<string mnemonic, list<Trait> traits = []>
    : NN_TensorOp<mnemonic, traits # [
        DeclareOpInterfaceMethods<DifferentiableOpInterface>,
        DeclareOpInterfaceMethods<IndexingOpInterface>]>;

class NN_StridedCopyOp<string mnemonic>
    : NN_ShapeOp<mnemonic, [
        DeclareOpInterfaceMethods<ExecutableOpInterface>,
        DeclareOpInterfaceMethods<StridedCopyOpInterface>,
        PrecisionOpInterface,
        RecomputableOpInterface]> {
  let extraClassDefinition = inferDefinition # [{
    ::trainc::KernelClass $cppClass::getKernelClass() { return ::trainc::KernelClass::StridedCopy; }
  }];
}

def NN_ReduceOp : NN_ShapeOp<"reduce", [DeclareOpInterfaceMethods<WideSumOpInterface>,
                                        DeclareOpInterfaceMethods<EpilogueOpInterface>]> {
  let summary = "reduces x along dimensions, which are removed (or kept with size 1: `keep`)";
  let description = [{
    `mean` is canonicalised to a sum times 1/n, and requires floating-point elements. Negative dimensions count from the end. bf16 and f16
    elements are combined in f32. The result is rounded once to their type, or stays f32 with `to f32`.
  }];
  let arguments = (ins NN_ReduceKind:$kind, NN_Tensor:$x, DenseI64ArrayAttr:$dims, UnitAttr:$keep, OptionalAttr<TypeAttr>:$to);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$kind $x `over` custom<Wholes>($dims) oilist(`keep` $keep | `to` $to) attr-dict `` custom<Types>(type($x))";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def NN_BroadcastOp : NN_ShapeOp<"broadcast", [PrecisionOpInterface, RecomputableOpInterface, ReadThroughOpInterface]> {
  let summary = "repeats x to a larger shape: right-aligned, dimensions of size 1 are repeated, missing ones added in front";
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$shape);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `to` custom<Wholes>($shape) attr-dict `` custom<Types>(type($x))";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def NN_ReshapeOp : NN_ShapeOp<"reshape", [DeclareOpInterfaceMethods<ExecutableOpInterface>, PrecisionOpInterface,
                                          RecomputableOpInterface, ReadThroughOpInterface]> {
  let summary = "the same elements, row-major, in another shape; one dimension may be -1, 0 keeps x's dimension";
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$shape);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `to` custom<Wholes>($shape) attr-dict `` custom<Types>(type($x))";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def NN_TransposeOp : NN_StridedCopyOp<"transpose"> {
  let summary = "permutes dimensions: result dimension i is x's dimension permutation[i]";
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `by` custom<Wholes>($permutation) attr-dict `` custom<Types>(type($x))";
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
}

def NN_SliceOp : NN_StridedCopyOp<"slice"> {
  let summary = "`size` elements of dimension `dim`, from `offset`";
  let arguments = (ins NN_Tensor:$x, I64Attr:$dim, I64Attr:$offset, I64Attr:$size);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `dim` custom<Whole>($dim) `from` custom<Whole>($offset) `size` custom<Whole>($size) attr-dict `` custom<Types>(type($x))";
  let hasFolder = 1;
}

def NN_PadOp : NN_StridedCopyOp<"pad"> {
  let summary = "x with `low` zeros before and `high` after it along dimension `dim`";
  let arguments = (ins NN_Tensor:$x, I64Attr:$dim, I64Attr:$low, I64Attr:$high);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$x `dim` custom<Whole>($dim) `low` custom<Whole>($low) `high` custom<Whole>($high) attr-dict `` custom<Types>(type($x))";
  let hasFolder = 1;
}

def NN_ConcatOp : NN_StridedCopyOp<"concat"> {
  let summary = "joins tensors along dimension `dim`";
  let arguments = (ins Variadic<NN_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "`dim` custom<Whole>($dim) custom<TypedValues>($inputs, type($inputs)) attr-dict";
  let hasFolder = 1;
}

def NN_SplitOp : NN_TensorOp<"split", [DeclareOpInterfaceMethods<DifferentiableOpInterface>,
                                      DeclareOpInterfaceMethods<IndexingOpInterface>,
                                      DeclareOpInterfaceMethods<DecomposableOpInterface>,
                                      PrecisionOpInterface]> {
  let summary = "cuts dimension `dim` (the last unless given) into equal parts, or into parts of given sizes";
  let description = [{
    ```mlir
    %q, %k, %v = nn.split %qkv into 3
    %q, %k, %v = nn.split %qkv into [2048, 256, 256]
    ```
  }];
  let arguments = (ins NN_Tensor:$x, I64Attr:$count, OptionalAttr<DenseI64ArrayAttr>:$sizes, DefaultValuedAttr<I64Attr, "-1">:$dim);
  let results = (outs Variadic<NN_Tensor>:$parts);
  let assemblyFormat = "$x `into` custom<Parts>($count, $sizes) (`dim` custom<Whole>($dim)^)? attr-dict `` custom<Types>(type($x))";
  let extraClassDeclaration = inferDeclaration # [{
    /// 0 above maxParts, so that a typing error does not exhaust memory.
    static size_t resultCount(Adaptor adaptor) { return adaptor.getCount() <= uint64_t(maxParts) ? adaptor.getCount() : 0; }
    static constexpr int64_t maxParts = 4096;
    /// Sizes of the parts along the dimension.
    ::llvm::SmallVector<int64_t> partSizes();
  }];
}

#endif
