// Helpers of tools that use LLVM's option parser and output stream.
#pragma once

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>

namespace trainc {

/// Hides all options registered so far, hundreds of LLVM's libraries, from --help; --help-hidden lists them.
inline void hideLibraryOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "version")
      option->setHiddenFlag(llvm::cl::Hidden);
}

/// Flushes llvm::outs(); returns the error if not all output was written.
inline std::optional<std::string> flushOutput() {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  const std::error_code error = out.error();
  if (!error)
    return std::nullopt;
  out.clear_error(); // LLVM ends the process at exit for an uncleared error
  return "cannot write to standard output: " + error.message();
}

/// Lets lost output on standard error leave the exit code unchanged; by default LLVM ends the process with 1.
inline void allowLostMessages() {
  llvm::errs(); // constructed before the handler is registered, and so destroyed after it runs
  std::atexit([] { llvm::errs().clear_error(); });
}

} // namespace trainc
