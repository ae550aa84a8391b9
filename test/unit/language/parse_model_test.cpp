#include "tools/language/parse_model.h"

#include "dialects/NN/NN.h"
#include "dialects/Train/Train.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>

namespace trainc {
namespace {

/// Collects diagnostics of texts, each as `line: message`.
class Parser {
public:
  explicit Parser(bool keepsAll = false) : keepsAll_(keepsAll) {
    mlir::DialectRegistry registry;
    registry.insert<nn::NNDialect, train::TrainDialect>();
    context_.appendDialectRegistry(registry);
    context_.printOpOnDiagnostic(false);
  }

  std::vector<std::string> parse(llvm::StringRef text) {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "m.mlir"), llvm::SMLoc());
    std::vector<std::string> errors;
    mlir::ScopedDiagnosticHandler handler(&context_, [&](mlir::Diagnostic &diagnostic) {
      const auto place = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
      if (keepsAll_ || diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
        errors.push_back(std::to_string(place ? place.getLine() : 0) + ": " + diagnostic.str());
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        if (keepsAll_)
          errors.push_back(note.str());
      return mlir::success();
    });
    const bool isParsed = bool(parseModel(sources, context_));
    EXPECT_TRUE(keepsAll_ || isParsed == errors.empty());
    return errors;
  }

private:
  mlir::MLIRContext context_;
  bool keepsAll_;
};

constexpr llvm::StringRef kModel = R"(nn.model @m(%features: tensor<?x20xf32>, %labels: tensor<?xi32>) {
  %h = nn.linear "fc" %features to 10
  %nll, %lse = nn.cross_entropy %h, %labels
  nn.loss "loss" %nll
}
train.program @p {
  model @m
  optimizer adamw(lr 1e-3, weight_decay 0.1)
  batch 8
}
)";

/// Diagnostics after replacing `from`.
std::string said(llvm::StringRef from, llvm::StringRef to) {
  const auto [before, after] = kModel.split(from);
  EXPECT_NE(before.size(), kModel.size()) << from.str() << " is not in the model";
  const std::vector<std::string> errors = Parser().parse((before + to + after).str());
  return errors.empty() ? "nothing" : errors.front();
}

TEST(ParseModel, MessagesShowTheNumbersOfConstants) {
  EXPECT_THAT(Parser().parse(("let n = 1.5\n" + kModel).str()), testing::IsEmpty());
  const std::vector<std::string> errors =
      Parser().parse("let n = 1.5\n" + std::regex_replace(kModel.str(), std::regex("to 10"), "to $n"));
  EXPECT_THAT(errors, testing::ElementsAre("3: expected a whole number, found '$n', which is 1.5"));
}

TEST(ParseModel, MessagesNameTheCopy) {
  EXPECT_THAT(
      Parser(/*keepsAll=*/true)
          .parse(
              "nn.block @a<k>(%x: tensor<?x4xf32>) {\n  %y = nn.linear \"fc\" %x to $k\n  nn.return %y\n}\n"
              "nn.block @b<n>(%x: tensor<?x4xf32>) {\n  %y = nn.apply @a<k = n> \"a\" (%x)\n  nn.return "
              "%y\n}\n"
              "nn.block @c(%x: tensor<?x4xf32>) {\n  %y = nn.apply @b<n = 1.5> \"b\" (%x)\n  nn.return "
              "%y\n}\n"),
      testing::ElementsAre("2: expected a whole number, found '$k', which is 1.5",
                           "in block @a<k = 1.5>, which is used here",
                           "in block @b<n = 1.5>, which is used here"));
}

/// A block that needs numbers, and that nothing uses, is not parsed.
TEST(ParseModel, UnusedBlocksAreWarnedOf) {
  const std::vector<std::string> messages =
      Parser(/*keepsAll=*/true).parse(("nn.block @b<n>() {\n}\n" + kModel).str());
  EXPECT_THAT(messages, testing::ElementsAre("1: block @b is not used, so its text is not checked"));
}

TEST(ParseModel, EachMistakeGetsASentence) {
  EXPECT_EQ(said("@m(", "@m("), "nothing");
  for (const char *settings : {"{number = 0.5}", "{number_first}", "{number = 0.5, number_first}"})
    EXPECT_THAT(said("  %nll", std::string("  %g = nn.mul %h, %h ") + settings + "\n  %nll"),
                testing::MatchesRegex("3: 'nn.mul' has no setting 'number(_first)?'; remove it"));
  EXPECT_EQ(said("lr 1e-3", "lr .01"),
            "8: expected a number that begins with a digit, found '.01'; write 0.01");
  EXPECT_EQ(said("20xf32", "20xfloat32"),
            "1: expected the type of an element, found 'float32'; did you mean 'f32'?");
  EXPECT_EQ(said("?x20xf32", "nx20xf32"),
            "1: expected a type, such as tensor<?x784xf32> or tensor<?xi32>, found 'nx20xf32'");
  EXPECT_EQ(said("%h, %labels", "%h, %label"),
            "3: no value '%label' is defined before this; did you mean '%labels'?");
  EXPECT_EQ(said("%h, %labels", "%h, %q"),
            "3: no value '%q' is defined before this; values are seen where they are defined, in "
            "one block or model, from the next line on");
  EXPECT_EQ(said("%h, %labels", "h, %labels"),
            "3: expected a value, which begins with %, found 'h'; did you mean '%h'?");
  EXPECT_EQ(
      said("%h =", "h ="),
      "2: expected a line such as `%y = nn.gelu %x`, found 'h'; values begin with %: did you mean '%h'?");
  EXPECT_EQ(said("nn.linear", "linear"), "2: 'linear' is not an op; did you mean 'nn.linear'?");
  EXPECT_EQ(said("nn.linear", "nn.liner"), "2: 'nn.liner' is unknown; did you mean 'nn.linear'?");
  EXPECT_EQ(said("nn.linear", "n.linear"), "2: 'n.linear' is not an op; did you mean 'nn.linear'?");
  EXPECT_EQ(said("nn.linear", "xyzzyxyzzy"),
            "2: 'xyzzyxyzzy' is not an op; docs/reference/ops.md lists all ops");
  EXPECT_EQ(said("nn.linear", "nn.conv2d"), "2: 'nn.conv2d' is unknown; convolutions are absent");
  EXPECT_EQ(said("nn.linear", "nn.view"), "2: 'nn.view' is unknown; write `nn.reshape`");
  EXPECT_EQ(said("nn.linear", "permute"), "2: 'permute' is not an op; write `nn.transpose`");
  EXPECT_EQ(said("nn.linear", "torch.cat"), "2: 'torch.cat' is not an op; write `nn.concat`");
  EXPECT_EQ(said("train.program", "program"), "6: 'program' is not an op; did you mean 'train.program'?");
  EXPECT_EQ(said("to 10", "10"),
            "2: expected the end of the line, found '10'; a word is missing or unknown here, such as `to` in "
            "`nn.linear \"up\" %x to 256`");
  EXPECT_EQ(said("to 10", "to"), "2: expected a name or a number, found the end of the line");
  EXPECT_EQ(said("to 10", "too 10"), "2: 'too' is not a word of nn.linear; did you mean 'to'?");
  EXPECT_EQ(said("to 10", "to 10 tie \"w\""), "2: 'tie' is not a word of nn.linear; did you mean 'tied'?");
  EXPECT_EQ(said("to 10", "to 10 groups 2"),
            "2: 'groups' is not a word of nn.linear; it has to, tied, layout, no_bias, init");
  EXPECT_EQ(said("%labels\n", "%labels ignored 3\n"),
            "3: 'ignored' is not a word of nn.cross_entropy; did you mean 'ignore'?");
  EXPECT_EQ(said("to 10", "to 10 layout inout"),
            "2: layout: expected in_out or out_in, found 'inout'; did you mean 'in_out'?");
  EXPECT_EQ(said("to 10", "to 10 : tensor<?x10xf32>"),
            "2: expected the end of the line, found ':'; a word is missing or unknown here, "
            "such as `to` in `nn.linear \"up\" %x to 256`");
  EXPECT_EQ(said("%nll, %lse", "%nll"),
            "3: 'nn.cross_entropy' has 2 results, found names for 1; each result gets a name, also one "
            "that is not needed");
  EXPECT_EQ(said("%nll, %lse", "%nll, %h"), "3: '%h' is defined already; give this result another name");
  EXPECT_EQ(said("\"fc\"", "fc"),
            "2: expected a name or a number, found 'fc'; names are written \"fc\" or @fc");
  EXPECT_EQ(said("\"fc\"", "\"fc"),
            "2: expected '\"' at the end of a text in quotes, found the end of the line");
  EXPECT_EQ(said("@m(", "m("), "1: expected a name that begins with @, found 'm'");
}

TEST(ParseModel, TheVerifierGetsASentence) {
  EXPECT_EQ(said("to 10", "to true"), "2: expected a whole number, found 'true'");
  EXPECT_EQ(said("fc\" %features", "fc\" %nll"),
            "2: a value is read before the line that defines it; move that line up");
}

TEST(ParseModel, NumbersOfProgramsGetASentence) {
  EXPECT_EQ(said("batch 8", "batch 8, 64"),
            "9: expected `x` with blanks around it between the sizes, found ','; write `batch 8 x 64`");
  EXPECT_EQ(said("batch 8", "batch 8 * 32"),
            "9: expected `x` with blanks around it between the sizes, found '*'; write `batch 8 x 32`");
  EXPECT_EQ(said("batch 8", "batch 8x32"),
            "9: expected `x` with blanks around it between the sizes, found 'x32'; write `batch 8 x 32`");
  EXPECT_EQ(said("batch 8", "batch 1e3"), "9: expected a whole number, found '1e3'; write 1000");
  EXPECT_EQ(said("batch 8", "batch 8 steps 2e4"), "9: expected a whole number, found '2e4'; write 20000");
  EXPECT_EQ(said("batch 8", "batch 8.5"), "9: expected a whole number, found '8.5'");
  EXPECT_EQ(said("batch 8", "batch 8 memory_limit 16GB"),
            "9: expected KiB, MiB, GiB or TiB (powers of 1024), found GB; write 16GiB");
  EXPECT_EQ(said("batch 8", "batch 8 memory_limit 16G"),
            "9: expected KiB, MiB, GiB or TiB (powers of 1024), found G; write 16GiB");
  EXPECT_EQ(said("lr 1e-3,", "lr 1e-3"),
            "8: expected `,` or `)`, found 'weight_decay'; commas separate settings and values");
  EXPECT_EQ(said("lr 1e-3", "lr = 1e-3"), "8: expected the value of 'lr', found '='; write `lr 1e-3`");
  EXPECT_EQ(said("lr 1e-3", "lr nan"),
            "8: expected a number, found 'nan'; numbers are written in digits, as in 1e-3");
}

TEST(ParseModel, WordsOfOtherProgramsGetASentence) {
  EXPECT_EQ(said("batch 8", "batch 8 max_grad_norm 1.0"),
            "9: 'max_grad_norm' is not a setting; write `clip 1.0`");
  EXPECT_EQ(said("batch 8", "batch 8 max-grad-norm 1.0"),
            "9: 'max-grad-norm' is not a setting; write `clip 1.0`");
  EXPECT_EQ(said("batch 8", "batch 8 epochs 3"),
            "9: 'epochs' is not a setting; trainrun decides it. Give --epochs to trainrun, with the plan");
  EXPECT_EQ(said("batch 8", "batch_size 8"),
            "9: 'batch_size' is not a setting; write `batch B`, or `batch B x T` with tokens per sample");
  EXPECT_EQ(said("batch 8", "batch 8 bf16 True"), "9: 'bf16' is not a setting; write `precision bf16`");
  EXPECT_EQ(
      said("batch 8", "batch 8 offload_optimizer_device nvme"),
      "9: 'offload_optimizer_device' is not a setting; write `offload \"optimizer\"` and `offload_to disk`");
  EXPECT_EQ(
      said("batch 8", "batch 8 output_dir x"),
      "9: 'output_dir' is not a setting; trainrun decides it. Give --checkpoint-dir=DIR to trainrun, with "
      "the plan");
  for (const char *steps : {"max_steps 100", "max_iters 100", "num_steps 100"})
    EXPECT_EQ(said("batch 8", "batch 8 " + std::string(steps)),
              "9: '" + std::string(steps).substr(0, std::string(steps).find(' ')) +
                  "' is not a setting; write `steps N`");
  EXPECT_EQ(said("batch 8", "batch 8 total_steps 100"),
            "9: 'total_steps' is not a setting; write `schedule cosine(warmup 100, total 1000)`");
  EXPECT_EQ(said("batch 8", "batch 8 schedule cosine(T_max 100)"),
            "9: 'cosine' has no setting 'T_max'; write `schedule cosine(warmup 100, total 1000)`");
  EXPECT_EQ(said("batch 8", "batch 8 schedule linear(num_warmup_steps 100)"),
            "9: 'linear' has no setting 'num_warmup_steps'; write `schedule cosine(warmup 100)`");
  EXPECT_EQ(said("batch 8", "batch 8 clip(max_norm 1.0)"),
            "9: expected the value of 'clip', found '('; write `clip 1.0`");
  EXPECT_EQ(
      said("batch 8", "batch 8 schedule CosineAnnealingLR"),
      "9: schedule: expected constant, linear, cosine, cosine_with_restarts, polynomial, one_minus_sqrt, "
      "inverse_sqrt, one_cycle or lr_range_test, found 'CosineAnnealingLR'; did you mean 'cosine'?");
  EXPECT_EQ(said("batch 8", "batch 8 report x"),
            "9: 'report' is not a setting; it is an option of trainc compile: --report");
  EXPECT_EQ(said("adamw(lr", "adamw(learning_rate"),
            "8: 'adamw' has no setting 'learning_rate'; write `optimizer adamw(lr 1e-3)`");
  EXPECT_EQ(said("weight_decay", "weight_decy"),
            "8: 'adamw' has no setting 'weight_decy'; did you mean 'weight_decay'?");
  EXPECT_EQ(said("adamw(", "adamv("),
            "8: optimizer: expected adamw, adam, sgd or lion, found 'adamv'; did you mean 'adamw'?");
  EXPECT_EQ(
      said("batch 8", "batch 8 schedule cosin"),
      "9: schedule: expected constant, linear, cosine, cosine_with_restarts, polynomial, one_minus_sqrt, "
      "inverse_sqrt, one_cycle or lr_range_test, found 'cosin'; did you mean 'cosine'?");
}

TEST(ParseModel, ForeignCharactersGetASentence) {
  EXPECT_EQ(said("to 10", "to 10;"), "2: ';' has no meaning here; lines end without it");
  EXPECT_EQ(said("nn.model", "\ufeffnn.model"),
            "1: '\ufeff' (U+FEFF) has no meaning here; it is a byte-order mark; save the file as "
            "UTF-8 without one");
  EXPECT_EQ(said("1e-3", "1e\u22123"),
            "8: '\u2212' (U+2212) has no meaning here; a minus is the character '-'");
  EXPECT_EQ(said("1e-3", "\u22121"),
            "8: '\u2212' (U+2212) has no meaning here; a minus is the character '-'");
  EXPECT_EQ(said("\"fc\"", "\u201cfc\u201d"),
            "2: '\u201c' (U+201C) has no meaning here; names of layers are in double quotes: \"up\"");
  EXPECT_EQ(said("\"fc\"", "'fc'"),
            "2: ''' has no meaning here; names of layers are in double quotes: \"up\"");
  EXPECT_EQ(said("nn.model", "# a model\nnn.model"), "1: '#' has no meaning here; comments begin with //");
  EXPECT_EQ(said("to 10", "to\u00a010"),
            "2: '\u00a0' (U+00A0) has no meaning here; it looks like a blank; write a blank");
}

TEST(ParseModel, BracesGetASentence) {
  const std::string nested =
      "expected '}', found the next block, model or program; nothing closes the '{' of line 1, `nn.model @m("
      "%features: tensor<?x20xf32>, %labels: tensor<?xi32>) {`";
  EXPECT_EQ(said("%nll\n}", "%nll\n"), "6: " + nested);
  EXPECT_EQ(said("  batch 8\n}", "  batch 8\n"),
            "11: expected '}', found the end of the file; nothing closes the '{' of line 6, "
            "`train.program @p {`");
  EXPECT_EQ(said("%nll\n}", "%nll\n}\n}"),
            "6: '}' closes nothing; remove it, or look for a '{' that is missing before");
  EXPECT_EQ(said(") {\n", ")\n"), "1: expected `{`, found the end of the line");
}

/// Whether a message holds a notion of MLIR's that models do not have.
bool speaksOfMlir(const std::string &message) {
  static const std::regex kNotions(
      R"(\b(SSA|ssa|operand|attribute|dialect|Dialect|region|literal|keyword|builtin|symbol|identifier|terminator|token|custom op|non-function)\b)");
  return std::regex_search(message, kNotions);
}

/// The ends of the tokens of a text, and where they begin.
std::vector<std::pair<size_t, size_t>> tokensOf(const std::string &text) {
  static const std::regex kToken(R"("[^"\n]*"|//[^\n]*|[%@]?[A-Za-z_][\w.]*|[0-9.]+(?:e-?\d+)?|[^\s\w])");
  std::vector<std::pair<size_t, size_t>> tokens;
  for (std::sregex_iterator found(text.begin(), text.end(), kToken), end; found != end; ++found)
    if (!found->str().starts_with("//"))
      tokens.emplace_back(found->position(), found->position() + found->length());
  return tokens;
}

class Example : public testing::TestWithParam<const char *> {};

/// Each token omitted, duplicated, and replaced by a misplaced one.
TEST_P(Example, NoMistakeLetsMlirSpeak) {
  const auto file = llvm::MemoryBuffer::getFile(std::string(TRAINC_EXAMPLES "/") + GetParam());
  ASSERT_TRUE(file);
  const std::string text = (*file)->getBuffer().str();
  Parser parser;
  ASSERT_THAT(parser.parse(text), testing::IsEmpty());
  size_t mistakes = 0;
  for (const auto &[begin, end] : tokensOf(text)) {
    const std::string token = text.substr(begin, end - begin);
    for (const std::string &instead : {std::string(),
                                       token + " " + token,
                                       std::string(";"),
                                       std::string("x"),
                                       std::string("1"),
                                       std::string(","),
                                       std::string("%x"),
                                       std::string("\"a\""),
                                       std::string("}"),
                                       std::string("{"),
                                       std::string(")"),
                                       std::string("("),
                                       std::string("-"),
                                       std::string(".5"),
                                       std::string("\u2212"),
                                       std::string("="),
                                       std::string(":"),
                                       std::string("@a"),
                                       std::string("#a"),
                                       std::string("!a"),
                                       std::string("^a"),
                                       std::string("?"),
                                       std::string("[1]"),
                                       std::string("<"),
                                       std::string("1e99"),
                                       std::string("9999999999999999999"),
                                       std::string("\"a"),
                                       std::string("nn.add"),
                                       std::string("arith.addf"),
                                       std::string("func.func"),
                                       std::string("loc(\"a\")"),
                                       std::string("dense<1>"),
                                       std::string("true"),
                                       std::string("-> f32")}) {
      const std::vector<std::string> errors =
          parser.parse(text.substr(0, begin) + instead + text.substr(end));
      mistakes += errors.size();
      for (const std::string &error : errors)
        EXPECT_FALSE(speaksOfMlir(error)) << "'" << token << "' replaced by '" << instead << "': " << error;
    }
  }
  EXPECT_GT(mistakes, 3000U);
}

INSTANTIATE_TEST_SUITE_P(Models, Example,
                         testing::Values("mlp/mlp.mlir", "gpt/gpt.mlir", "llama/llama.mlir",
                                         "llama/smollm2.mlir"));

} // namespace
} // namespace trainc
