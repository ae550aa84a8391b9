// What the process asks of the system before it does anything.
#pragma once

namespace trainc {

/// Call it first in main(). From then on all standard streams are open; a file that grows beyond a limit and
/// a pipe whose reader is gone give errors instead of signals; a mapped file that becomes shorter while it is
/// read ends the process with a message and exit code 1; and as many files can be open as the system allows,
/// for data in many.
void prepareProcess();

} // namespace trainc
