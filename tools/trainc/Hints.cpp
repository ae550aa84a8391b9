#include "tools/trainc/Hints.h"

using namespace mlir;

namespace trainc {

namespace {

struct Hint {
  StringRef message; ///< how the error begins
  StringRef note;
};

constexpr Hint kHints[] = {
    {"expected operation name in quotes", "a line is `%y = nn.gelu %x`, say; if this one is meant to go on, "
                                          "a word is missing or unknown here, such as "
                                          "`to` in `nn.linear \"up\" %x to 256`"},
    {"expected SSA operand", "a value is expected: a name that begins with %"},
    {"use of undeclared SSA value name",
     "values are seen where they are defined, in one block or model, from the next line on"},
    {"operation defines ",
     "docs/language.md says what each op gives; a result that is not needed gets a name, too"},
    {"expected attribute value",
     "a name in quotes or a number is expected, as in `nn.linear \"up\" %x to 256`"},
    {"Dialect `' not found", "ops are written with the dialect in front (nn.add); if this is a word of the "
                             "op before, another one is missing before "
                             "it or it is unknown"},
    {"expected floating point literal", "a number is expected, after a space: `lr 1e-3`"},
    {"(tried 'builtin.",
     "ops are written with the dialect in front: nn.add, nn.linear, nn.model, train.program"},
    {"unknown word 'x", "sizes are written with spaces: `batch 8 x 128`"},
    {"expected ')'", "settings are separated by commas: `adamw(lr 1e-3, weight_decay 0.1)`"},
    {"floating point value not valid", "a whole number is expected"},
    {"expected integer value", "a whole number is expected, after a space: `batch 32`"},
    {"expected valid keyword", "a word is expected: settings are given as `name number`, such as `lr 1e-3`"},
    {"unexpected character", "names of layers are in double quotes, comments begin with //"},
    {"invalid attribute name", "comments begin with //"},
};

} // namespace

SyntaxHints::SyntaxHints(MLIRContext &context)
    : handler(&context, [](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
          return failure();
        const std::string text = diagnostic.str();
        for (const Hint &hint : kHints)
          if (StringRef(text).contains(hint.message)) {
            diagnostic.attachNote() << hint.note;
            break;
          }
        return failure(); // printed by the handler before this one
      }) {}

} // namespace trainc
