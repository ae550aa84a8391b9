// Standard output of tools that print through LLVM.
#pragma once

#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <system_error>

namespace trainc {

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

} // namespace trainc
