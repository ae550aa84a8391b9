// `trainc sign`: a thin shell over runtime/plan.
#include "runtime/plan/signature.h"
#include "tools/trainc/Commands.h"

int trainc::runSign(const SignCommand &command) { return finish(signPlan(command.plan, command.key)); }
