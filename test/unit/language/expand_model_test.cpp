#include "tools/language/expand_model.h"

#include "dialects/NN/NN.h"
#include "dialects/Train/Train.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string placeText(mlir::Location location) {
  const auto place = location->findInstanceOf<mlir::FileLineColLoc>();
  return std::filesystem::path(place.getFilename().str()).filename().string() + ":" +
         std::to_string(place.getLine()) + ":" + std::to_string(place.getColumn());
}

/// Expands texts. Collects messages, each as `file:line:column: message`, notes after their error.
class Expansion {
public:
  explicit Expansion(llvm::StringRef text, const std::string &file = "m.mlir") {
    mlir::DialectRegistry registry;
    registry.insert<nn::NNDialect, train::TrainDialect>();
    mlir::MLIRContext context(registry);
    context.loadAllAvailableDialects();
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      messages.push_back(placeText(diagnostic.getLocation()) + ": " + diagnostic.str());
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        messages.push_back(placeText(note.getLocation()) + ": " + note.str());
      return mlir::success();
    });
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, file), llvm::SMLoc());
    auto result = expandModel(sources, context);
    EXPECT_EQ(failed(result), !messages.empty());
    if (succeeded(result))
      expanded = std::move(*result);
  }

  /// The position, as `file:line:column`, of the first character of `part` in the expanded text.
  std::string positionOf(llvm::StringRef part) {
    const SourcePosition position = expanded.positionOf(expanded.text().find(part));
    const char *pointer = sources.getMemoryBuffer(position.buffer)->getBufferStart() + position.offset;
    const auto [line, column] =
        sources.getLineAndColumn(llvm::SMLoc::getFromPointer(pointer), position.buffer);
    return std::to_string(position.buffer) + ":" + std::to_string(line) + ":" + std::to_string(column);
  }

  llvm::SourceMgr sources;
  ExpandedText expanded;
  std::vector<std::string> messages;
};

std::string textOf(llvm::StringRef text) { return Expansion(text).expanded.text().str(); }

std::string said(llvm::StringRef text) {
  const Expansion expansion(text);
  return expansion.messages.empty() ? "nothing" : expansion.messages.front();
}

/// The value of an expression, or what is wrong with it.
std::string valueOf(const std::string &expression) {
  const Expansion expansion("let six = 6\nlet eps = 1e-5\nlet value = " + expression + "\n$value");
  return expansion.messages.empty() ? expansion.expanded.text().rsplit('\n').second.str()
                                    : expansion.messages.front();
}

TEST(ExpandModel, TextsWithoutConstantsStay) {
  for (const char *text :
       {"", "nn.block @a() {\n}\n", "// let x = 1 $x\n\"$y\" %a$b #c$d {let = 1, import}\n"})
    EXPECT_EQ(textOf(text), text);
}

TEST(ExpandModel, ConstantsAreNumbers) {
  EXPECT_EQ(textOf("let width = 576 // of the stream\nto $width"), "// of the stream\nto 576");
  EXPECT_EQ(textOf("let w = 4\nlet n = 2\ntensor<?x$(w)x$(w * n)xf32> tensor<$w x $n xf32> x$w"),
            "\n\ntensor<?x4x8xf32> tensor<4 x 2 xf32> x4");
  EXPECT_EQ(textOf("let eps = 1e-5\n{a = $eps, b = -$(eps)}"), "\n{a = 1.0e-5, b = -1.0e-5}");
  EXPECT_EQ(textOf("let let_ = 1\r\n  let import = let_ + 1\r\n$import\r\n"), "\r\n  \r\n2\r\n");
}

TEST(ExpandModel, Arithmetic) {
  EXPECT_EQ(valueOf("576"), "576");
  EXPECT_EQ(valueOf("2 + 3 * four"),
            "m.mlir:3:21: there is no constant 'four'; a line `let four = 1` before, "
            "outside of braces, defines it");
  EXPECT_EQ(valueOf("2 + 3 * six - 1"), "19");
  EXPECT_EQ(valueOf("(2 + 3) * six / 2 / 3"), "5");
  EXPECT_EQ(valueOf("-(six - 8) - -1 // comment"), "3");
  EXPECT_EQ(valueOf("- - 4"), "4");
  EXPECT_EQ(valueOf("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(valueOf("1.5"), "1.5");
  EXPECT_EQ(valueOf("-2E3"), "-2.0E3");
  EXPECT_EQ(valueOf("eps"), "1.0e-5");
  EXPECT_EQ(valueOf("7 / 2"), "m.mlir:3:15: 7 / 2 is not a whole number");
  EXPECT_EQ(valueOf("7 / (six - 6)"), "m.mlir:3:15: 7 / 0 divides by zero");
  EXPECT_EQ(valueOf("-9223372036854775808 / -1"),
            "m.mlir:3:34: expected a whole number from -9223372036854775808 to 9223372036854775807, found "
            "-9223372036854775808 / -1");
  EXPECT_THAT(valueOf(std::string(98, '(') + "six six"), HasSubstr("found 'six'"));
  EXPECT_THAT(valueOf(std::string(98, '(') + "seven"), HasSubstr("there is no constant 'seven'"));
  EXPECT_THAT(valueOf(std::string(98, '(')), HasSubstr("found the end of the line"));
  for (const char *each : {"9223372036854775807 + 1", "-9223372036854775807 - 2", "4611686018427387904 * 2",
                           "-(-9223372036854775808)"})
    EXPECT_THAT(valueOf(each), HasSubstr("expected a whole number from -9223372036854775808 to "));
  EXPECT_EQ(valueOf("eps * 2"), "m.mlir:3:17: expected whole numbers on both sides of '*', found 1.0e-5; "
                                "numbers with a point are not computed with");
  EXPECT_EQ(valueOf("-eps"), "-1.0e-5");
  EXPECT_EQ(valueOf("-(- -eps)"), "-1.0e-5");
  EXPECT_EQ(valueOf("6 six"),
            "m.mlir:3:15: expected the end of the line after the value of a constant, found 'six'");
  EXPECT_EQ(valueOf("6six"), "m.mlir:3:13: expected a number, found '6six'");
  EXPECT_EQ(valueOf("six +"), "m.mlir:3:18: expected a number, a constant or '(', found the end of the line");
  EXPECT_EQ(valueOf("(six"), "m.mlir:3:17: expected an operator or ')', found the end of the line");
  EXPECT_EQ(valueOf("$six"), "m.mlir:3:13: expected a number, a constant or '(', found '$six'; within an "
                             "expression, names of constants are written without $");
  EXPECT_THAT(valueOf(std::string(200, '-') + "1"), HasSubstr("nested more than 100 deep"));
  EXPECT_THAT(valueOf(std::string(200, '(') + "1"), HasSubstr("nested more than 100 deep"));
}

TEST(ExpandModel, MistakesInLines) {
  EXPECT_EQ(said("let 5 = 3"),
            "m.mlir:1:5: expected the name of a constant, as in `let width = 576`, found '5'");
  EXPECT_EQ(said("let a.b = 3"),
            "m.mlir:1:5: expected the name of a constant, as in `let width = 576`, found 'a.b'");
  EXPECT_EQ(
      said("let"),
      "m.mlir:1:4: expected the name of a constant, as in `let width = 576`, found the end of the file");
  EXPECT_EQ(said("let width 3"), "m.mlir:1:11: expected '=' after the name of a constant, found '3'");
  EXPECT_EQ(
      said("nn.block @a() {\n  let b = 3\n}"),
      "m.mlir:2:3: expected this line outside of braces, above the block, model or program; or a '}' is "
      "missing before");
  const Expansion twice("let a = 3\n\nlet a = 4");
  EXPECT_THAT(twice.messages, ElementsAre("m.mlir:3:5: constant 'a' is defined twice",
                                          "m.mlir:1:5: the first definition is here"));
}

TEST(ExpandModel, MistakesInUses) {
  EXPECT_EQ(said("let width = 3\nto $widht"),
            "m.mlir:2:4: there is no constant 'widht'; did you mean 'width'?");
  EXPECT_EQ(said("to $width\nlet width = 3"),
            "m.mlir:1:4: constant 'width' is defined after its use; move its `let` up");
  EXPECT_EQ(said("let width = 3\ntensor<?x$widthxf32>"),
            "m.mlir:2:10: there is no constant 'widthxf32'; did you mean $(width)xf32?");
  EXPECT_EQ(said("to $"), "m.mlir:1:4: '$' has no meaning here; $name is the number of `let name = ...`, and "
                          "$(...) that of an expression");
  EXPECT_EQ(said("let a = 3\nto 5$a"), "m.mlir:2:5: expected a blank before the constant");
  EXPECT_EQ(said("let a = 3\nto $(a)$a"), "m.mlir:2:8: expected a blank after the constant");
  for (const char *text : {"let a = 3\nto $a$a", "let a = 3\nto $a.5"})
    EXPECT_EQ(said(text), "m.mlir:2:6: expected a blank after the constant");
  EXPECT_EQ(
      said("let a = -3\nto -$a"),
      "m.mlir:2:5: expected a positive number after '-', found -3; write $(-name), which is the negative "
      "of any number");
  EXPECT_EQ(textOf("let a = -3\nto $(-a)"), "\nto 3");
  EXPECT_EQ(said("let a = 3\rto $a"),
            "m.mlir:1:10: expected the end of the line after the value of a constant, found 'to'");
  EXPECT_EQ(said("let a = 3\nto (%x)$a"), "m.mlir:2:8: expected a blank before the constant");
  EXPECT_EQ(said("let a = 3\nto $(a)5"), "m.mlir:2:8: expected a blank after the constant");
  EXPECT_EQ(said("let a = 3\nto $a / 2 $a/2"),
            "m.mlir:2:13: arithmetic on constants is written in parentheses, as in $(width / 2)");
  EXPECT_EQ(said("let a = 3\nto $(a"),
            "m.mlir:2:7: expected ')' after an expression, found the end of the file");
}

TEST(ExpandModel, NumbersThatTheParserWouldChange) {
  EXPECT_EQ(said("let a = 255\n{k = $a : i8}"),
            "m.mlir:2:6: expected a whole number from -128 to 127, found 255");
  EXPECT_EQ(said("let a = 255\n{k = -$(a) : i8}"),
            "m.mlir:2:7: expected a whole number from -128 to 127, found -255");
  EXPECT_EQ(
      said("let z = 1e-50\n{k = $z : f32}"),
      "m.mlir:2:6: expected a number of f32, found 1.0e-50, which is 0 there; write 0, or a larger number");
  EXPECT_EQ(said("nn.block @b<n>() { $n : i8 }\n@b<n = 128>"),
            "m.mlir:1:20: expected a whole number from -128 to 127, found 128");
  EXPECT_EQ(textOf("let a = 255\n{k = $a : ui8, l = $a : i16}"), "\n{k = 255 : ui8, l = 255 : i16}");
}

constexpr llvm::StringRef kBlock = "nn.block @b<n, m = 2>(%x: tensor<$(n)xf32>) {\n  f {$m} $n\n}\n";

TEST(ExpandModel, BlocksAreCopiedForTheirConstants) {
  EXPECT_EQ(textOf((kBlock + "use @b<n = 3>, @b<m = 4, n = 1 + 2>, @b<n = 3, m = 2> @c").str()),
            "\nuse @\"b<n = 3, m = 2>\", @\"b<n = 3, m = 4>\", @\"b<n = 3, m = 2>\" @c"
            "\nnn.block @\"b<n = 3, m = 2>\"(%x: tensor<3xf32>) {\n  f {2} 3\n}"
            "\nnn.block @\"b<n = 3, m = 4>\"(%x: tensor<3xf32>) {\n  f {4} 3\n}");
  // A block that uses another one, before its definition, with a constant of its own.
  EXPECT_EQ(textOf(("nn.block @a<k>() { @b<n = k * 2> }\n@a<k = 1>\n" + kBlock).str()),
            "\n@\"a<k = 1>\"\n\n\nnn.block @\"a<k = 1>\"() { @\"b<n = 2, m = 2>\" }"
            "\nnn.block @\"b<n = 2, m = 2>\"(%x: tensor<2xf32>) {\n  f {2} 2\n}");
  EXPECT_EQ(textOf("nn.block @d<k = 1.5>() { $k }\n@d"),
            "\n@\"d<k = 1.5>\"\nnn.block @\"d<k = 1.5>\"() { 1.5 }");
}

TEST(ExpandModel, HeadingsOfBlocks) {
  EXPECT_EQ(textOf("nn.block @a() {} nn.block @b<n>() {$n} @b<n = 1>"),
            "nn.block @a() {}  @\"b<n = 1>\"\nnn.block @\"b<n = 1>\"() {1}");
  EXPECT_EQ(textOf("nn.block @b <n>() {$n}\n@b <n = 1>, @\"b\"<n = 1> @\"c d\""),
            "\n@\"b<n = 1>\", @\"b<n = 1>\" @\"c d\"\nnn.block @\"b<n = 1>\"() {1}");
  EXPECT_EQ(textOf("nn.block @\"b\"<n = 2>() {$n}\n@\"b\""), "\n@\"b<n = 2>\"\nnn.block @\"b<n = 2>\"() {2}");
  EXPECT_EQ(textOf("nn.block @b<n>() attributes {k = $n} {\n  $n\n}\n@b<n = 1>"),
            "\n@\"b<n = 1>\"\nnn.block @\"b<n = 1>\"() attributes {k = 1} {\n  1\n}");
}

TEST(ExpandModel, EachNumberHasOneCopy) {
  const std::string text =
      textOf("nn.block @b<t>() {$t}\n@b<t = 1e4>, @b<t = 10000.0>, @b<t = 1.0E4>, @b<t = 10000>");
  EXPECT_THAT(
      text, StartsWith("\n@\"b<t = 10000.0>\", @\"b<t = 10000.0>\", @\"b<t = 10000.0>\", @\"b<t = 10000>\""));
  EXPECT_EQ(llvm::StringRef(text).count("nn.block"), 2);
}

/// Blocks that each use the next one twice, with other numbers, need twice as many copies for each block.
TEST(ExpandModel, CopiesAreLimited) {
  std::string text = "use @b0<n = 1>\n";
  for (int block = 0; block < 40; ++block)
    text += fmt::format("nn.block @b{}<n>() {{ @b{}<n = n * 2> @b{}<n = n * 2 + 1> }}\n", block, block + 1,
                        block + 1);
  text += "nn.block @b40<n>() { }\n";
  const auto messages = Expansion(text).messages;
  ASSERT_FALSE(messages.empty());
  EXPECT_THAT(messages.front(),
              StartsWith("m.mlir:17:38: the model needs more than 100000 copies of blocks"));
}

TEST(ExpandModel, UnusedBlocks) {
  EXPECT_EQ(textOf("nn.block @b<n = 2>() {$n}"), "\nnn.block @\"b<n = 2>\"() {2}");
  EXPECT_EQ(
      said("nn.block @b<n = 2>() {$m}"),
      "m.mlir:1:23: there is no constant 'm'; a line `let m = 1` before, outside of braces, defines it");
  EXPECT_EQ(textOf("nn.block @b<n>() {$n}"), ""); // blocks for other files
}

TEST(ExpandModel, MistakesInBlocks) {
  EXPECT_EQ(said("nn.block @b<>() {}"),
            "m.mlir:1:13: expected the name of a constant of block @b, found '>'");
  EXPECT_EQ(said("nn.block @b<n, n>() {}"), "m.mlir:1:16: constant 'n' of block @b is given twice");
  EXPECT_EQ(said("nn.block @b<n() {}"),
            "m.mlir:1:14: expected '>' after the constants of block @b, found '('");
  EXPECT_EQ(
      said("nn.block @b<n>() {\n  @c"),
      "m.mlir:2:5: expected '}', found the end of the file; nothing closes the '{' of line 1, `nn.block "
      "@b<n>() {`");
  EXPECT_EQ(said("nn.block @b<n>() {\n  let m = 3\n}"),
            "m.mlir:2:3: expected this line outside of braces, above the block");
  EXPECT_THAT(Expansion("let n = 1\nnn.block @b<n>() {}").messages,
              ElementsAre("m.mlir:2:13: constant 'n' of block @b is defined twice",
                          "m.mlir:1:5: the first definition is here"));
  EXPECT_THAT(
      Expansion("nn.block @b() {}\nnn.block @b<n>() {}").messages,
      ElementsAre("m.mlir:2:1: block @b is defined twice", "m.mlir:1:1: the first definition is here"));
  EXPECT_EQ(said((kBlock + "@b").str()), "m.mlir:4:1: block @b needs a number for 'n', as in @b<n = 1>");
  EXPECT_EQ(said((kBlock + "@b<k = 1>").str()), "m.mlir:4:4: block @b has no constant 'k'; it has n, m");
  EXPECT_EQ(said((kBlock + "@b<n = 1, n = 2>").str()),
            "m.mlir:4:11: constant 'n' of block @b is given twice");
  EXPECT_EQ(said((kBlock + "@b<3>").str()),
            "m.mlir:4:4: expected the name of a constant of block @b, found '3'");
  EXPECT_EQ(said((kBlock + "@b<n 3>").str()),
            "m.mlir:4:6: expected '=' after the name of a constant of block @b, found '3'");
  EXPECT_EQ(said((kBlock + "@b<n = 3").str()),
            "m.mlir:4:9: expected '>' after the constants of block @b, found the end of the file");
  EXPECT_EQ(said("nn.block @c() {}\n@c<n = 1>"),
            "m.mlir:2:1: @c has no constants; a block with constants is written `nn.block @c<window>(...)`");
  EXPECT_THAT(Expansion("nn.block @b<n>() { $k }\n\n@b<n = 2>").messages,
              ElementsAre(StartsWith("m.mlir:1:20: there is no constant 'k'"),
                          "m.mlir:3:1: in block @b<n = 2>, which is used here"));
  EXPECT_THAT(Expansion("nn.block @b<n>() { @b<n = n + 1> }\n@b<n = 2>").messages,
              ElementsAre("m.mlir:1:20: block @b contains itself",
                          "m.mlir:2:1: in block @b<n = 2>, which is used here"));
}

TEST(ExpandModel, PositionsAreThoseInTheSource) {
  Expansion expansion("let w = 4\n nn.a $w to $(w + 1) b\nnn.block @b<n>() {\n  c $n d\n}\n@b<n = 7>\n");
  EXPECT_EQ(expansion.expanded.text(),
            "\n nn.a 4 to 5 b\n\n@\"b<n = 7>\"\n\nnn.block @\"b<n = 7>\"() {\n  c 7 d\n}");
  EXPECT_EQ(expansion.positionOf("nn.a"), "1:2:2");
  EXPECT_EQ(expansion.positionOf("4 to"), "1:2:7");
  EXPECT_EQ(expansion.positionOf("to 5"), "1:2:10");
  EXPECT_EQ(expansion.positionOf("5 b"), "1:2:13");
  EXPECT_EQ(expansion.positionOf("b\n"), "1:2:22");
  EXPECT_EQ(expansion.positionOf("@\"b"), "1:6:1");
  EXPECT_EQ(expansion.positionOf("nn.block"), "1:3:1");
  EXPECT_EQ(expansion.positionOf("c 7"), "1:4:3");
  EXPECT_EQ(expansion.positionOf("d\n}"), "1:4:8");
}

class Import : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "trainc_expand_model_test";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "lib");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const char *file, llvm::StringRef text) { std::ofstream(folder_ / file) << text.str(); }
  Expansion expand(llvm::StringRef text) { return Expansion(text, (folder_ / "m.mlir").string()); }

  std::filesystem::path folder_;
};

TEST_F(Import, TakesThePlaceOfTheLine) {
  write("lib/a.mlir", "import \"b.mlir\"\nlet a = b + 1\nA $a\n");
  write("lib/b.mlir", "let b = 1\nnn.block @p<n>() { $(n + b) }\n");
  Expansion expansion = expand("import \"lib/a.mlir\"\nimport \"lib/b.mlir\" // once\nM $b $a @p<n = 5>");
  EXPECT_THAT(expansion.messages, ElementsAre());
  EXPECT_EQ(expansion.expanded.text(),
            "\n\n\n\nA 2\n\n // once\nM 1 2 @\"p<n = 5>\"\nnn.block @\"p<n = 5>\"() { 6 }");
  EXPECT_EQ(expansion.positionOf("A 2"), "2:3:1");
  EXPECT_EQ(expansion.positionOf("M 1"), "1:3:1");
  EXPECT_EQ(expansion.positionOf("{ 6"), "3:2:18");
}

TEST_F(Import, Mistakes) {
  write("a.mlir", "import \"b.mlir\"\n");
  write("b.mlir", "let c = 1\nimport \"./a.mlir\"\n");
  write("bad.mlir", "let a = \n");
  write("binary.mlir", llvm::StringRef("\0", 1));
  EXPECT_THAT(
      expand("import \"a.mlir\"").messages,
      ElementsAre(testing::MatchesRegex("b.mlir:2:8: files import each other in a circle: .*a.mlir -> "
                                        ".*b.mlir -> .*a.mlir")));
  EXPECT_THAT(expand("\nimport \"m.mlir\"").messages,
              ElementsAre(HasSubstr("m.mlir:2:8: files import each other")));
  EXPECT_THAT(expand("import \"none.mlir\"").messages,
              ElementsAre(StartsWith("m.mlir:1:8: cannot import: ")));
  EXPECT_THAT(expand("import \"lib\"").messages, ElementsAre(StartsWith("m.mlir:1:8: cannot import: ")));
  EXPECT_THAT(expand("import \"binary.mlir\"").messages,
              ElementsAre(HasSubstr("binary.mlir:1: expected a model's text in UTF-8, found the byte 0x00")));
  EXPECT_THAT(expand("import \"bad.mlir\"").messages,
              ElementsAre("bad.mlir:1:9: expected a number, a constant or '(', found the end of the file"));
  EXPECT_EQ(said("import b.mlir"), "m.mlir:1:8: expected the name of a file in double quotes, as in `import "
                                   "\"blocks.mlir\"`, found 'b.mlir'");
  EXPECT_THAT(said("import \"a.mlir"), HasSubstr("expected the name of a file in double quotes"));
  EXPECT_THAT(said("import \"\""), HasSubstr("expected the name of a file in double quotes"));
  EXPECT_THAT(said("import \"a.mlir\" as b"),
              HasSubstr("expected the end of the line after an import, found 'as'"));
  write("c.mlir", "let c = 2\n");
  EXPECT_THAT(
      expand("let c = 1\nimport \"c.mlir\"").messages,
      ElementsAre("c.mlir:1:5: constant 'c' is defined twice", "m.mlir:1:5: the first definition is here"));
}

/// The parser recurses into brackets of all files together, and into aliases of files that came before.
TEST_F(Import, BracketsAreCountedAcrossFiles) {
  const std::string open(300, '['), close(300, ']');
  write("open.mlir", "#n = " + open + "\n");
  EXPECT_THAT(expand("#m = " + open + "\nimport \"open.mlir\"\n").messages,
              ElementsAre("open.mlir:1:206: brackets are nested more than 500 deep"));
  write("alias.mlir", "#n = " + open + "1" + close + "\n");
  EXPECT_THAT(expand("import \"alias.mlir\"\n#m = " + open + "#n" + close + "\n").messages,
              ElementsAre("m.mlir:2:308: brackets are nested more than 500 deep"));
  EXPECT_THAT(expand("import \"alias.mlir\"\n#m = [#n]\n").messages, ElementsAre());
}

TEST_F(Import, UnclosedBraces) {
  write("a.mlir", "nn.block @a() {\n");
  EXPECT_THAT(
      expand("import \"a.mlir\"\nnn.block @b() {\n}\n").messages,
      ElementsAre("a.mlir:2:1: expected '}', found the end of the file; nothing closes the '{' of line 1, "
                  "`nn.block @a() {`"));
}

TEST(ExpandModel, MasksKeepPositions) {
  EXPECT_EQ(maskExpansions("let w = 4\nimport \"a\"\nto $w x$(w / (2))xf32 @b<n = 1>() {$}"),
            "         \n          \nto  1 x         1xf32 @b       () {1}");
}

/// Whatever is cut or doubled, expansion ends, with a message or a text.
TEST(ExpandModel, PiecesOfTexts) {
  const std::string text =
      ("let w = (4 + 2) * -3\nimport \"none\"\n" + kBlock + "to $w $(w / 2) @b<n = w> \"q\" %a$b").str();
  for (size_t begin = 0; begin < text.size(); ++begin)
    for (size_t size = 1; size < 20; ++size) {
      (void)Expansion(text.substr(0, begin) + text.substr(std::min(text.size(), begin + size)));
      (void)maskExpansions(text.substr(begin, size));
    }
}

} // namespace
} // namespace trainc
