// Counts heap allocations of the whole process.
#pragma once

#include <cstdint>
#include <functional>

namespace trainc::test {

/// The number of allocations (operator new, malloc, calloc, realloc and their aligned forms, on any thread)
/// while `body` runs. Under a sanitizer, which owns malloc, only operator new is counted.
uint64_t countAllocations(const std::function<void()> &body);

} // namespace trainc::test
