// Enums of the plan dialect alone, with the cases of plan/schema/plan.fbs.

#ifndef TRAINC_PLAN_ENUMS
#define TRAINC_PLAN_ENUMS

include "dialects/Interfaces/SchemaEnum.td"

class Plan_Enum<string name, string what> : SchemaEnum<name, what> {
  let cppNamespace = "::trainc::plan";
}

def Plan_Role : Plan_Enum<"Role", "purpose of a byte">;
def Plan_Access : Plan_Enum<"Access", "access of a kernel parameter">;
def Plan_KernelKind : Plan_Enum<"KernelKind", "class of a kernel">;
def Plan_Space : Plan_Enum<"Space", "memory space">;
def Plan_Stream : Plan_Enum<"Stream", "in-order instruction stream">;
def Plan_AttentionPass : Plan_Enum<"AttentionPass", "attention, or its gradient">;

#endif
