// Child processes for tests of variables that are read only once.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace trainc::test {

using Variables = std::map<std::string, std::string>;

/// Runs `body` in a child process with these environment variables; a failed expectation there fails the
/// test.
void inChild(const Variables &variables, const std::function<void()> &body);

/// Ends such a process, or one that it forked, with the code that says whether all was as expected.
[[noreturn]] void endAsChild();

} // namespace trainc::test
