// Enums of tensor ops.

#ifndef TRAINC_NN_ENUMS
#define TRAINC_NN_ENUMS

include "mlir/IR/EnumAttr.td"

def NN_ReduceKind : I32EnumAttr<"ReduceKind", "combiner of a reduction", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"mean", 3>]> {
  let cppNamespace = "::trainc::nn";
}
def NN_Predicate : I32EnumAttr<"Predicate", "comparison", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
    I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::trainc::nn";
}

#endif
