// Registration of the dialect; starts and waits come in pairs.
#include "dialects/Dist/Dist.h"

using namespace mlir;
using namespace trainc::dist;

#include "dialects/Dist/DistDialect.cpp.inc"

void DistDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Dist/DistOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/Dist/DistOps.cpp.inc"

LogicalResult AllReduceStartOp::verify() {
  for (Operation *user : getPending().getUsers())
    if (!isa<WaitOp>(user)) {
      InFlightDiagnostic error =
          emitOpError("is still under way where its value is used; expected a dist.wait between");
      error.attachNote(user->getLoc()) << "the use";
      return error;
    }
  return success();
}

LogicalResult WaitOp::verify() {
  if (!getPending().getDefiningOp<AllReduceStartOp>())
    return emitOpError("waits for a value that no collective makes");
  return success();
}
