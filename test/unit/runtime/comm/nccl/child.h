// A process of its own for a test of what reads the environment once.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace trainc::test {

using Variables = std::map<std::string, std::string>;

/// Runs `body` in a process of its own with these environment variables; what it expects in vain fails the
/// test.
void inChild(const Variables &variables, const std::function<void()> &body);

/// Ends such a process, or one that it forked, with the code that says whether all was as expected.
[[noreturn]] void endAsChild();

} // namespace trainc::test
