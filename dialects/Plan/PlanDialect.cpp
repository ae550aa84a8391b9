// Registration of the dialect.
#include "dialects/Plan/Plan.h"
#include "plan/facts/schedules.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trainc::plan;

#include "dialects/Plan/PlanDialect.cpp.inc"
#include "dialects/Plan/PlanEnums.cpp.inc"
#include "dialects/Plan/PlanInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Plan/PlanAttributes.cpp.inc"

void PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/PlanOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Plan/PlanAttributes.cpp.inc"
      >();
}

/// Parses the name of a schedule.
static ParseResult parseSchedule(OpAsmParser &parser, StringAttr &name) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (!trainc::findSchedule(word))
    return parser.emitError(loc) << "unknown schedule '" << word << "'";
  name = parser.getBuilder().getStringAttr(word);
  return success();
}
static void printSchedule(OpAsmPrinter &printer, Operation *, StringAttr name) { printer << name.getValue(); }

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.cpp.inc"
