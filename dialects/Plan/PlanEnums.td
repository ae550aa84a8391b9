// Enums of the plan dialect alone, with the numbers of plan/schema/plan.fbs.

#ifndef TRAINC_PLAN_ENUMS
#define TRAINC_PLAN_ENUMS

include "mlir/IR/EnumAttr.td"

class Plan_Enum<string name, string what, list<I32EnumAttrCase> cases> : I32EnumAttr<name, what, cases> {
  let cppNamespace = "::trainc::plan";
}

def Plan_Role : Plan_Enum<"Role", "purpose of a byte", [
    I32EnumAttrCase<"parameter", 0>, I32EnumAttrCase<"gradient", 1>, I32EnumAttrCase<"optimizer", 2>,
    I32EnumAttrCase<"activation", 3>, I32EnumAttrCase<"workspace", 4>, I32EnumAttrCase<"input", 5>,
    I32EnumAttrCase<"cache", 6>]>;
def Plan_Access : Plan_Enum<"Access", "access of a kernel parameter", [
    I32EnumAttrCase<"read", 0>, I32EnumAttrCase<"write", 1>, I32EnumAttrCase<"read_write", 2>]>;
def Plan_KernelKind : Plan_Enum<"KernelKind", "class of a kernel", [
    I32EnumAttrCase<"rows", 0>, I32EnumAttrCase<"copy", 1>, I32EnumAttrCase<"scatter", 2>, I32EnumAttrCase<"attention", 3>,
    I32EnumAttrCase<"gemm", 4>, I32EnumAttrCase<"rank_sum", 5>]>;

def Plan_Space : Plan_Enum<"Space", "memory space", [
    I32EnumAttrCase<"device", 0>, I32EnumAttrCase<"host", 1>, I32EnumAttrCase<"disk", 2>]>;

def Plan_Stream : Plan_Enum<"Stream", "in-order instruction stream", [
    I32EnumAttrCase<"compute", 0>, I32EnumAttrCase<"communication", 1>, I32EnumAttrCase<"copy_in", 2>,
    I32EnumAttrCase<"copy_out", 3>, I32EnumAttrCase<"disk", 4>, I32EnumAttrCase<"host_compute", 5>]>;

def Plan_AttentionPass : Plan_Enum<"AttentionPass", "attention, or its gradient", [
    I32EnumAttrCase<"forward", 0>, I32EnumAttrCase<"backward", 1>]>;

#endif
