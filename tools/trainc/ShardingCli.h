// The options of `trainc compile` that say how ranks divide and gather parameters.
#pragma once

#include "lib/Pipelines/CompileOptions.h"

#include <CLI/CLI.hpp>

namespace trainc {

void addSharding(CLI::App &compile, ShardingOptions &options);

} // namespace trainc
