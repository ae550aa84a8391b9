// Enums that several dialects share. Enums that a plan file stores have the numbers of plan/schema/plan.fbs.

#ifndef TRAINC_ENUMS
#define TRAINC_ENUMS

include "mlir/IR/EnumAttr.td"

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

def ScalarDirection : Trainc_Enum<"ScalarDirection", "direction in which a scalar is exchanged", [
    I32EnumAttrCase<"to_device", 0>, I32EnumAttrCase<"from_device", 1>]>;

def BatchExtent : Trainc_Enum<"BatchExtent", "samples that an input holds: one micro-batch, or all of a step", [
    I32EnumAttrCase<"micro", 0>, I32EnumAttrCase<"step", 1>]>;

def CollectiveKind : Trainc_Enum<"CollectiveKind", "kind of a collective", [
    I32EnumAttrCase<"all_reduce", 0>, I32EnumAttrCase<"reduce_scatter", 1>, I32EnumAttrCase<"all_gather", 2>]>;

// All ranks; the ranks among which states are sharded; the ranks that hold the same shard.
def RankGroup : Trainc_Enum<"RankGroup", "group of ranks in a collective", [
    I32EnumAttrCase<"all", 0>, I32EnumAttrCase<"shard", 1>, I32EnumAttrCase<"replica", 2>]>;

def Activation : Trainc_Enum<"Activation", "function that a matrix product applies to its result", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"gelu", 1>, I32EnumAttrCase<"gelu_tanh", 2>,
    I32EnumAttrCase<"gelu_gradient", 3>, I32EnumAttrCase<"gelu_tanh_gradient", 4>]>;

def SideSum : Trainc_Enum<"SideSum", "operand or result whose sums a matrix product gives as a second result", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"result", 1>, I32EnumAttrCase<"a", 2>, I32EnumAttrCase<"b", 3>]>;

#endif
