// Writes the toy plan to a file, for tests of the trainrun program: make_toy_plan FILE [RANKS SHARD_RANKS
// [linger]] [cuda]
#include "test/unit/runtime/training/toy_plan.h"

#include <cstdlib>
#include <string_view>

int main(int argc, char **argv) {
  using namespace trainc;
  const bool isForCuda = argc > 2 && std::string_view(argv[argc - 1]) == "cuda";
  const int count = argc - (isForCuda ? 1 : 0);
  if (count != 2 && count != 4 && count != 5)
    return 2;
  const auto number = [&](int i) { return static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
  test::PlanBuilder plan = count >= 4 ? test::toyPlan(number(2), number(3)) : test::toyPlan();
  if (count == 5)
    test::linger(plan);
  if (isForCuda)
    plan = test::toyOnCuda(std::move(plan));
  const Status status = writePlanFile(argv[1], plan.payload());
  if (!status.ok())
    fmt::print(stderr, "{}\n", status.message());
  return status.exitCode();
}
