// Summaries of files that subcommands wrote. They go to standard error, so that standard output holds results
// only.
#pragma once

#include "base/status.h"
#include "plan/schema/plan_generated.h"
#include "runtime/data/tokenize.h"

#include <string>
#include <string_view>

namespace trainc {

/// Three lines: the plan's parameters; its memory and predicted step; the command that runs it. `path` is
/// the plan's file, `report` its compile report for this machine.
std::string compiledText(const fb::Plan &plan, const std::string &path, std::string_view report);

/// Two lines: the token file with its tokens, and its tokenizer.
std::string tokenizedText(const TokenizeOptions &options, const TokenizedTexts &made);

/// `text` as one word of a shell's command line.
std::string shellWord(std::string_view text);

} // namespace trainc
