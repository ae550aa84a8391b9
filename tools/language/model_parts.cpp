#include "tools/language/model_parts.h"

#include "base/input_file.h"
#include "base/plain_text.h"
#include "dialects/NN/ForeignOps.h"
#include "dialects/NN/Syntax.h"
#include "tools/language/property_names.h"
#include "tools/language/syntax_errors.h"
#include "tools/language/text_check.h"
#include "tools/language/text_position.h"
#include "tools/language/token_reader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <filesystem>

using llvm::failure;
using llvm::FailureOr;
using llvm::LogicalResult;
using llvm::StringRef;
using llvm::success;
using llvm::Twine;

namespace trainc {

namespace {

/// Bytes of a file at most.
constexpr size_t kMaxFileBytes = size_t{256} << 20;
/// Files that import each other in a row at most, because each is a call.
constexpr size_t kMaxImports = 100;

class PartsReader {
public:
  PartsReader(SourceFiles &files, Imports imports) : files_(files), imports_(imports) {}

  FailureOr<ModelParts> read();

private:
  LogicalResult definedTwice(const Twine &what, SourcePosition position, SourcePosition first);
  LogicalResult expectToken(StringRef token, SourcePosition position, const Twine &after);
  LogicalResult missingBrace(SourcePosition position);
  LogicalResult checkLineEnd(SourcePosition position, StringRef what);
  LogicalResult checkText(unsigned buffer);

  std::optional<ConstantValue> evaluate(unsigned buffer, size_t &at);
  LogicalResult load(unsigned buffer);
  FailureOr<size_t> readLet(SourcePosition position);
  FailureOr<size_t> readImport(SourcePosition position);
  LogicalResult import(SourcePosition position, StringRef path);
  FailureOr<size_t> readBlock(unsigned buffer, const Token &token);
  LogicalResult readConstants(BlockTemplate &block, size_t at);
  LogicalResult findEnd(BlockTemplate &block);

  SourceFiles &files_;
  Imports imports_;
  ModelParts parts_;
  std::map<StringRef, SourcePosition> blocks_; ///< all blocks, by name
  std::vector<unsigned> loading_;              ///< files of which each imports the next, from the main one on
  std::map<std::string, unsigned> loaded_;     ///< buffers, by canonical path
};

std::string canonicalPath(const std::filesystem::path &path) {
  std::error_code ignored; // of a file that does not exist
  return std::filesystem::weakly_canonical(path, ignored).string();
}

} // namespace

// --- Constants ---

bool isConstantName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::string suggestName(StringRef name, llvm::ArrayRef<StringRef> known, const Twine &otherwise) {
  const StringRef nearest = nearestName(name, known);
  return nearest.empty() ? otherwise.str() : ("; did you mean '" + nearest + "'?").str();
}

const ConstantValue *ConstantScope::lookUp(StringRef name, std::string &message) const {
  for (const auto &[constant, value] : llvm::zip_equal(blockConstants, blockValues))
    if (constant.name == name)
      return &value;
  if (const auto found = parts.constantOf.find(name); found != parts.constantOf.end()) {
    if (found->second < visible)
      return &parts.constants[found->second].value;
    message = ("constant '" + name + "' is defined after its use; move its `let` up").str();
    return nullptr;
  }
  std::vector<StringRef> known;
  for (const BlockConstant &constant : blockConstants)
    known.push_back(constant.name);
  for (const Constant &constant : llvm::ArrayRef(parts.constants).take_front(visible))
    known.push_back(constant.name);
  message = ("there is no constant '" + name + "'").str() +
            suggestName(name, known, "; a line `let " + name + " = 1` before, outside of braces, defines it");
  for (StringRef each : known) // $widthxf32
    if (name.starts_with(each) && name.drop_front(each.size()).starts_with("x"))
      message = ("there is no constant '" + name + "'; did you mean $(" + each + ")" +
                 name.drop_front(each.size()) + "?")
                    .str();
  return nullptr;
}

/// Evaluates the expression at `at` of a buffer, and moves `at` after it.
std::optional<ConstantValue> PartsReader::evaluate(unsigned buffer, size_t &at) {
  const ConstantScope scope{parts_, parts_.constants.size(), {}, {}};
  const auto lookUp = [&](StringRef name, std::string &message) { return scope.lookUp(name, message); };
  ExpressionReader reader(files_.textOf(buffer), at, lookUp);
  std::optional<ConstantValue> value = reader.read();
  if (!value)
    files_.errorAt({buffer, reader.error().offset}, reader.error().message);
  at = reader.end();
  return value;
}

// --- Errors ---

LogicalResult PartsReader::definedTwice(const Twine &what, SourcePosition position, SourcePosition first) {
  mlir::InFlightDiagnostic error = files_.errorAt(position, what + " is defined twice");
  error.attachNote(files_.locationOf(first)) << "the first definition is here";
  return error;
}

LogicalResult PartsReader::expectToken(StringRef token, SourcePosition position, const Twine &after) {
  if (files_.textOf(position.buffer).substr(position.offset).starts_with(token))
    return success();
  return files_.errorAt(position,
                        "expected '" + token + "' after " + after + ", found " + files_.describe(position));
}

/// Reports that a brace is missing before a position.
LogicalResult PartsReader::missingBrace(SourcePosition position) {
  const TextPosition found(files_.textOf(position.buffer), position.offset);
  const SyntaxError error = explainSyntaxError("expected '{' to begin a region", found, files_.context());
  return files_.errorAt({position.buffer, error.offset.value_or(found.offset())}, error.text);
}

/// Fails unless nothing but a comment follows on the line.
LogicalResult PartsReader::checkLineEnd(SourcePosition position, StringRef what) {
  const StringRef text = files_.textOf(position.buffer);
  const size_t at = skipBlanks(text, position.offset);
  const StringRef rest = text.substr(at);
  if (rest.empty() || rest[0] == '\n' || rest.starts_with("\r\n") || rest.starts_with("//"))
    return success();
  return files_.errorAt({position.buffer, at}, "expected the end of the line after " + what + ", found " +
                                                   files_.describe({position.buffer, at}));
}

/// Reads ` name = expression`. Returns the offset after it.
FailureOr<size_t> PartsReader::readLet(SourcePosition position) {
  const unsigned buffer = position.buffer;
  const StringRef text = files_.textOf(buffer);
  size_t at = skipBlanks(text, position.offset);
  const StringRef name = wordAt(text, at);
  const SourcePosition namePosition{buffer, at};
  if (!isConstantName(name))
    return files_.errorAt(namePosition, "expected the name of a constant, as in `let width = 576`, found " +
                                            files_.describe(namePosition));
  at = skipBlanks(text, at + name.size());
  if (failed(expectToken("=", {buffer, at}, "the name of a constant")))
    return failure();
  ++at;
  const std::optional<ConstantValue> value = evaluate(buffer, at);
  if (!value || failed(checkLineEnd({buffer, at}, "the value of a constant")))
    return failure();
  const auto [first, isNew] = parts_.constantOf.try_emplace(name, parts_.constants.size());
  if (!isNew)
    return definedTwice("constant '" + name + "'", namePosition, parts_.constants[first->second].position);
  parts_.constants.push_back({name, *value, namePosition});
  return at;
}

/// Reads ` "file"`. Returns the offset after it.
FailureOr<size_t> PartsReader::readImport(SourcePosition position) {
  const StringRef text = files_.textOf(position.buffer);
  const size_t at = skipBlanks(text, position.offset);
  const StringRef line = text.substr(at).take_until([](char c) { return c == '\n'; });
  const size_t end = line.starts_with("\"") ? line.find('"', 1) : StringRef::npos;
  const StringRef path = end == StringRef::npos ? "" : line.slice(1, end);
  const SourcePosition pathPosition{position.buffer, at};
  if (path.empty() || path.contains('\\')) {
    const StringRef module = wordAt(text, at);
    const StringRef advice = module.empty() || module.ends_with(".mlir") ? "" : adviceOnForeignOp("import");
    return files_.errorAt(
        pathPosition, "expected the name of a file in double quotes, as in `import \"blocks.mlir\"`, found " +
                          files_.describe(pathPosition) + (advice.empty() ? "" : "; " + advice));
  }
  const size_t after = at + end + 1;
  if (failed(checkLineEnd({position.buffer, after}, "an import")) || failed(import(pathPosition, path)))
    return failure();
  return after;
}

/// Loads the file `path`, which is relative to the file of `position`, unless it was loaded before.
LogicalResult PartsReader::import(SourcePosition position, StringRef path) {
  if (imports_ == Imports::Refuse)
    return files_.errorAt(position, "cannot import: this text may not read files");
  const std::filesystem::path file =
      std::filesystem::path(files_.nameOf(position.buffer).str()).parent_path() / path.str();
  const std::string canonical = canonicalPath(file);
  if (const auto known = loaded_.find(canonical); known != loaded_.end()) {
    const auto cycle = llvm::find(loading_, known->second);
    if (cycle == loading_.end())
      return success();
    std::string chain;
    for (auto each = cycle; each != loading_.end(); ++each)
      chain += files_.nameOf(*each).str() + " -> ";
    return files_.errorAt(position, "files import each other in a circle: " + chain + files_.nameOf(*cycle));
  }
  if (loading_.size() > kMaxImports)
    return files_.errorAt(position, "more than " + Twine(kMaxImports) + " files import each other in a row");
  const Result<std::string> text = readWholeFile(file, kMaxFileBytes);
  if (!text.ok())
    return files_.errorAt(position, "cannot import: " + printable(text.status().message()));
  const std::string name = printable(file.string());
  if (const std::optional<std::string> problem = describeNonText(*text, name))
    return files_.errorAt(position, "cannot import: " + *problem);
  const unsigned buffer = files_.add(*text, name);
  loaded_.emplace(canonical, buffer);
  return load(buffer);
}

/// Reads `<window, theta = 10000>` at `at`.
LogicalResult PartsReader::readConstants(BlockTemplate &block, size_t at) {
  const unsigned buffer = block.position.buffer;
  const StringRef text = files_.textOf(buffer);
  const std::string ofBlock = (" of block @" + block.name).str();
  llvm::StringSet<> names;
  do {
    at = skipSpace(text, at + 1);
    const StringRef name = wordAt(text, at);
    const SourcePosition position{buffer, at};
    if (!isConstantName(name))
      return files_.errorAt(position, "expected the name of a constant" + ofBlock + ", found " +
                                          files_.describe(position));
    if (!names.insert(name).second)
      return files_.errorAt(position, "constant '" + name + "'" + ofBlock + " is given twice");
    if (const auto other = parts_.constantOf.find(name); other != parts_.constantOf.end())
      return definedTwice("constant '" + name + "'" + ofBlock, position,
                          parts_.constants[other->second].position);
    at = skipSpace(text, at + name.size());
    std::optional<ConstantValue> value;
    if (text.substr(at).starts_with("=")) {
      ++at;
      value = evaluate(buffer, at);
      if (!value)
        return failure();
    }
    block.constants.push_back({name, value});
    at = skipSpace(text, at);
  } while (text.substr(at).starts_with(","));
  block.body = at + 1;
  return expectToken(">", {buffer, at}, "the constants" + ofBlock);
}

/// Finds the end of a block with constants: the `}` of its body. Those of `attributes {...}` are before.
LogicalResult PartsReader::findEnd(BlockTemplate &block) {
  const unsigned buffer = block.position.buffer;
  const StringRef text = files_.textOf(buffer);
  TokenReader tokens(text, block.body);
  bool isBody = false;
  while (true) {
    const Token token = tokens.next();
    if (token.kind == Token::Open && tokens.depth() == 1)
      isBody = !text.take_front(token.begin).rtrim().ends_with("attributes");
    if (token.kind == Token::Let || token.kind == Token::Import)
      return files_.errorAt({buffer, token.begin}, "expected this line outside of braces, above the block");
    if (token.kind == Token::Block || token.kind == Token::End)
      return missingBrace({buffer, token.begin});
    if (token.kind != Token::Close || tokens.depth() > 0 || !isBody)
      continue;
    block.end = token.end;
    return success();
  }
}

/// Reads a block. Returns the offset after the block if it has constants, otherwise after its name.
FailureOr<size_t> PartsReader::readBlock(unsigned buffer, const Token &token) {
  const std::optional<size_t> constants = angleAfter(files_.textOf(buffer), token.end);
  const SourcePosition position{buffer, token.begin};
  const auto [first, isNew] = blocks_.try_emplace(token.name, position);
  if (!isNew && (constants || parts_.templates.contains(token.name))) // MLIR reports two plain blocks
    return definedTwice("block @" + token.name, position, first->second);
  if (!constants)
    return token.end;
  BlockTemplate block{token.name, position, parts_.constants.size(), 0, 0, {}};
  if (failed(readConstants(block, *constants)) || failed(findEnd(block)))
    return failure();
  return parts_.templates.emplace(token.name, std::move(block)).first->second.end;
}

/// Fails if a text has numbers, brackets or properties that MLIR's parser would misread.
LogicalResult PartsReader::checkText(unsigned buffer) {
  const StringRef text = files_.textOf(buffer);
  std::optional<TextProblem> problem = findBadText(text);
  if (!problem)
    problem = findUnknownProperty(text, files_.context());
  if (!problem)
    return success();
  return mlir::emitError(
      mlir::FileLineColLoc::get(&files_.context(), files_.nameOf(buffer), problem->line, problem->column),
      problem->message);
}

/// Collects the constants, blocks and other parts of a file, and of the files that it imports.
LogicalResult PartsReader::load(unsigned buffer) {
  if (failed(checkText(buffer)))
    return failure();
  loading_.push_back(buffer);
  const StringRef text = files_.textOf(buffer);
  TokenReader tokens(text, 0);
  size_t begin = 0;
  const auto addChunk = [&](size_t end) {
    if (begin < end)
      parts_.chunks.push_back({{buffer, begin}, end, parts_.constants.size()});
  };
  for (Token token = tokens.next(); token.kind != Token::End; token = tokens.next()) {
    const bool isLine = token.kind == Token::Let || token.kind == Token::Import;
    if (!isLine && token.kind != Token::Block)
      continue;
    if (isLine && tokens.depth() > 0)
      return files_.errorAt(
          {buffer, token.begin},
          "expected this line outside of braces, above the block, model or program; or a '}' is "
          "missing before");
    if (isLine || angleAfter(text, token.end))
      addChunk(token.begin);
    const FailureOr<size_t> end = token.kind == Token::Let      ? readLet({buffer, token.end})
                                  : token.kind == Token::Import ? readImport({buffer, token.end})
                                                                : readBlock(buffer, token);
    if (failed(end))
      return failure();
    if (*end == token.end)
      continue;
    begin = *end;
    tokens.skipTo(begin);
  }
  addChunk(text.size());
  if (tokens.depth() > 0)
    return missingBrace({buffer, text.size()});
  loading_.pop_back();
  return success();
}

FailureOr<ModelParts> PartsReader::read() {
  loaded_.emplace(canonicalPath(files_.nameOf(files_.main()).str()), files_.main());
  if (failed(load(files_.main())))
    return failure();
  return std::move(parts_);
}

FailureOr<ModelParts> readParts(SourceFiles &files, Imports imports) {
  return PartsReader(files, imports).read();
}

} // namespace trainc
