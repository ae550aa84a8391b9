// Writes the toy plan to a file, for tests of the trainrun program: make_toy_plan FILE
#include "test/unit/runtime/exec/toy_plan.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  const trainc::Status status = trainc::writePlanFile(argv[1], trainc::test::toyPlan().payload());
  if (!status.ok())
    fmt::print(stderr, "{}\n", status.message());
  return status.exitCode();
}
