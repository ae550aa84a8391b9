// Texts of `trainc compile --help` about settings.
#include "dialects/Train/ProgramWords.h"

#include <gtest/gtest.h>

using namespace trainc::train;

/// Whether the word says in which type something is held or computed.
static bool isOfTypes(const ProgramWord &word) {
  return word.ofPrecision || word.ofFp16 || word.word.ends_with("precision") ||
         word.word == "optimizer_states";
}

TEST(ProgramWords, HelpOfTypesNamesTheDefault) {
  for (const ProgramWord &word : kProgramWords) {
    if (!isOfTypes(word))
      continue;
    const std::string help(word.help), defaultValue(word.defaultValue);
    const bool isNamed = help.find("default: " + defaultValue) != std::string::npos ||
                         help.find(defaultValue + ", the default") != std::string::npos;
    EXPECT_TRUE(isNamed) << word.option << ": " << help;
  }
}

TEST(ProgramWords, LineOfHelpHoldsTheDefaultWhole) {
  for (const ProgramWord &word : kProgramWords)
    for (const std::string_view end : {"default:\n", "default\n", "the\ndefault"})
      EXPECT_EQ(word.help.find(end), std::string_view::npos) << word.option << ": " << word.help;
}
