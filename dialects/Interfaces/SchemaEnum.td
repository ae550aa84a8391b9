// Enums with the cases of plan/schema/plan.fbs.

#ifndef TRAINC_SCHEMA_ENUM
#define TRAINC_SCHEMA_ENUM

include "mlir/IR/EnumAttr.td"
include "plan/schema/enum_cases.td"

// The enum `schemaName` of the schema.
class SchemaEnum<string name, string what, string schemaName = name>
    : I32EnumAttr<name, what, !cast<SchemaCases>(schemaName # "Cases").cases> {
  let cppNamespace = "::trainc";
}

#endif
