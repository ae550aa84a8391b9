// Enums that several dialects share, with the cases of plan/schema/plan.fbs.

#ifndef TRAINC_ENUMS
#define TRAINC_ENUMS

include "dialects/Interfaces/SchemaEnum.td"

def EntryKind : SchemaEnum<"EntryKind", "kind of an entry; its name in a plan file">;
def HostScalar : SchemaEnum<"HostScalar", "a number exchanged with the host; its name in a plan file">;
def ScalarDirection : SchemaEnum<"ScalarDirection", "direction in which a scalar is exchanged", "Direction">;
def BatchExtent : SchemaEnum<"BatchExtent", "samples that an input holds: one micro-batch, or all of a step">;
def CollectiveKind : SchemaEnum<"CollectiveKind", "kind of a collective">;
def Activation : SchemaEnum<"Activation", "function that a matrix product applies to its result">;
def SideSum : SchemaEnum<"SideSum", "operand or result whose sums a matrix product gives as a second result">;

#endif
