// Enums of the dialect train alone.

#ifndef TRAINC_TRAIN_ENUMS
#define TRAINC_TRAIN_ENUMS

include "mlir/IR/EnumAttr.td"

class Train_Enum<string name, string what, list<I32EnumAttrCase> cases> : I32EnumAttr<name, what, cases> {
  let cppNamespace = "::trainc::train";
}

def Train_StateRole : Train_Enum<"StateRole", "purpose of a state", [
    I32EnumAttrCase<"parameter", 0>, I32EnumAttrCase<"gradient", 1>, I32EnumAttrCase<"optimizer", 2>,
    I32EnumAttrCase<"scalar", 3>, I32EnumAttrCase<"cache", 4>, I32EnumAttrCase<"output", 5>,
    I32EnumAttrCase<"working", 6>, I32EnumAttrCase<"chunks", 7>, I32EnumAttrCase<"activation", 8>]>;

#endif
