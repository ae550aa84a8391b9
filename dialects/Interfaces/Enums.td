// Enums that several dialects share. Those of a plan file have the cases of plan/schema/plan.fbs.

#ifndef TRAINC_ENUMS
#define TRAINC_ENUMS

include "dialects/Interfaces/SchemaEnum.td"

class Trainc_Enum<string name, string what, list<I32EnumAttrCase> cases> : I32EnumAttr<name, what, cases> {
  let cppNamespace = "::trainc";
}

def EntryKind : Trainc_Enum<"EntryKind", "kind of an entry; its name in a plan file", [
    I32EnumAttrCase<"init", 0>, I32EnumAttrCase<"begin_step", 1>, I32EnumAttrCase<"micro_step", 2>,
    I32EnumAttrCase<"last_micro_step", 3>, I32EnumAttrCase<"update", 4>, I32EnumAttrCase<"eval", 5>,
    I32EnumAttrCase<"prefill", 6>, I32EnumAttrCase<"decode", 7>, I32EnumAttrCase<"refresh", 8>]>;

// Documented beside Scalar in plan.fbs.
def HostScalar : Trainc_Enum<"HostScalar", "a number exchanged with the host; its name in a plan file", [
    I32EnumAttrCase<"lr", 0>, I32EnumAttrCase<"seed", 1>, I32EnumAttrCase<"step", 2>, I32EnumAttrCase<"micro", 3>,
    I32EnumAttrCase<"position", 4>, I32EnumAttrCase<"loss", 5>, I32EnumAttrCase<"grad_norm", 6>,
    I32EnumAttrCase<"finite", 7>, I32EnumAttrCase<"targets", 8>, I32EnumAttrCase<"eval_loss", 9>,
    I32EnumAttrCase<"eval_targets", 10>, I32EnumAttrCase<"step_loss_scale", 11>, I32EnumAttrCase<"overflow", 12>]>;

def ScalarDirection : SchemaEnum<"ScalarDirection", "direction in which a scalar is exchanged", "Direction">;
def BatchExtent : SchemaEnum<"BatchExtent", "samples that an input holds: one micro-batch, or all of a step">;
def CollectiveKind : SchemaEnum<"CollectiveKind", "kind of a collective">;
def Activation : SchemaEnum<"Activation", "function that a matrix product applies to its result">;
def SideSum : SchemaEnum<"SideSum", "operand or result whose sums a matrix product gives as a second result">;

#endif
