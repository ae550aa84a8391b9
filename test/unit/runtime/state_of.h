// A state of an executor by its name.
#pragma once

#include "runtime/exec/executor.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace trainc::test {

inline StateView stateOf(const Executor &executor, std::string_view name) {
  const auto found = std::ranges::find(
      executor.states(), name, [](const StateView &state) { return state.info->name()->string_view(); });
  if (found != executor.states().end())
    return *found;
  ADD_FAILURE() << "no state " << name;
  return {nullptr, 0, {}};
}

} // namespace trainc::test
