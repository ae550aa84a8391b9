// What tools on LLVM's option parser and stream share.
#pragma once

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>

namespace trainc {

/// Leaves out of --help what is registered so far: hundreds of options of LLVM's libraries, for every machine
/// that they know. --help-hidden lists them.
inline void hideLibraryOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "version")
      option->setHiddenFlag(llvm::cl::Hidden);
}

/// Writes out what llvm::outs() holds back; why it did not all arrive.
inline std::optional<std::string> flushOutput() {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  const std::error_code error = out.error();
  if (!error)
    return std::nullopt;
  out.clear_error(); // an error that nobody clears ends the program
  return "cannot write to standard output: " + error.message();
}

/// Messages that nobody can read change no exit code. Without this, LLVM ends the process with 1 for them.
inline void allowLostMessages() {
  llvm::errs(); // made before the handler is registered, so that it is still there when that runs
  std::atexit([] { llvm::errs().clear_error(); });
}

} // namespace trainc
