#include "tools/language/expand_model.h"

#include "dialects/NN/Syntax.h"
#include "tools/language/model_parts.h"
#include "tools/language/text_position.h"
#include "tools/language/token_reader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <set>

using llvm::failure;
using llvm::FailureOr;
using llvm::LogicalResult;
using llvm::StringRef;
using llvm::success;
using llvm::Twine;

namespace trainc {

SourcePosition ExpandedText::positionOf(size_t offset) const {
  const auto next =
      llvm::upper_bound(pieces_, offset, [](size_t at, const Piece &piece) { return at < piece.begin; });
  if (next == pieces_.begin())
    return {1, 0}; // an empty text
  const Piece &piece = *std::prev(next);
  return {piece.position.buffer, piece.position.offset + (piece.isCopy ? offset - piece.begin : 0)};
}

StringRef ExpandedText::replacementAt(size_t offset) const {
  const auto next =
      llvm::upper_bound(pieces_, offset, [](size_t at, const Piece &piece) { return at < piece.begin; });
  if (next == pieces_.begin() || std::prev(next)->isCopy)
    return {};
  return text().slice(std::prev(next)->begin, next == pieces_.end() ? text_.size() : next->begin);
}

std::vector<BlockCopy> ExpandedText::copiesAt(size_t offset) const {
  std::vector<BlockCopy> found;
  const auto after = llvm::upper_bound(copyBegins_, offset);
  if (after == copyBegins_.begin())
    return found;
  for (std::optional<size_t> at = static_cast<size_t>(after - copyBegins_.begin()) - 1; at;
       at = found.back().user)
    found.push_back(copies_[*at]);
  return found;
}

std::string describeUse(const BlockCopy &copy) { return "in block @" + copy.symbol + ", which is used here"; }

void ExpandedText::beginCopy(BlockCopy copy, SourcePosition position) {
  copyBegins_.push_back(text_.size());
  put("\nnn.block @\"" + copy.symbol + "\"", position);
  copies_.push_back(std::move(copy));
}

void ExpandedText::copy(StringRef text, SourcePosition position) {
  if (text.empty())
    return;
  pieces_.push_back({text_.size(), position, /*isCopy=*/true});
  text_ += text;
}

void ExpandedText::put(const Twine &text, SourcePosition position) {
  pieces_.push_back({text_.size(), position, /*isCopy=*/false});
  text_ += text.str();
}

namespace {

/// Maximum size of an expanded text in bytes; the same as that of a file.
constexpr size_t kMaxBytes = size_t{256} << 20;
/// Maximum number of copies of blocks. Each copy has at least one op, and a model with so many ops would be
/// too large to compile (ModelSize.cpp).
constexpr size_t kMaxCopies = 100'000;

/// A copy of a block to write.
struct Instance {
  const BlockTemplate *block;
  std::vector<ConstantValue> values;
  BlockCopy copy;
};

/// Writes the text of a model's parts.
class Expander {
public:
  Expander(const SourceFiles &files, const ModelParts &parts) : files_(files), parts_(parts) {}

  FailureOr<ExpandedText> expand();

private:
  mlir::InFlightDiagnostic errorAt(SourcePosition position, const Twine &message);
  LogicalResult expectToken(StringRef token, SourcePosition position, const Twine &after);
  LogicalResult checkNeighbours(SourcePosition position, size_t end);

  ConstantScope scope() const;
  std::optional<ConstantValue> evaluate(unsigned buffer, size_t &at);

  LogicalResult write(SourcePosition from, size_t end);
  LogicalResult writeCopies(size_t &written);
  void addUnused();
  void warnOfUnused() const;
  FailureOr<size_t> writeConstant(SourcePosition position);
  FailureOr<size_t> writeUse(const BlockTemplate &block, SourcePosition position, size_t at);
  FailureOr<size_t> readValues(const BlockTemplate &block, unsigned buffer, size_t at,
                               std::vector<std::optional<ConstantValue>> &values);

  const SourceFiles &files_;
  const ModelParts &parts_;
  std::vector<Instance> instances_;
  std::set<std::string> symbols_; ///< of the instances
  std::set<const BlockTemplate *> used_;
  ExpandedText out_;

  size_t visible_ = 0;             ///< number of file-level constants that the text in progress may use
  std::optional<size_t> instance_; ///< the copy of a block that is being written
};

/// Returns the longest text at an offset in which all characters may be in a constant's name.
StringRef constantNameAt(StringRef text, size_t at) {
  return text.substr(at).take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// Returns the same text for all spellings of a floating-point number, such as `10000.0` for `1e4`. The whole
/// number 10000 has another text, because an exported dictionary distinguishes the two types. The check of
/// the expanded text reports numbers that f64 cannot hold.
std::string keyOf(const ConstantValue &value) {
  double number = 0;
  if (value.whole || StringRef(value.text).getAsDouble(number) || !std::isfinite(number) || number == 0)
    return value.text;
  const std::string key = formatNumber(number);
  return StringRef(key).find_first_of(".e") == StringRef::npos ? key + ".0" : key;
}

/// Returns the name of the copy of a block for some values of its constants.
std::string symbolOf(const BlockTemplate &block, llvm::ArrayRef<ConstantValue> values) {
  std::string settings;
  for (const auto &[constant, value] : llvm::zip_equal(block.constants, values))
    settings += (settings.empty() ? "" : ", ") + constant.name.str() + " = " + keyOf(value);
  return (block.name + "<" + settings + ">").str();
}

} // namespace

// --- Errors ---

mlir::InFlightDiagnostic Expander::errorAt(SourcePosition position, const Twine &message) {
  mlir::InFlightDiagnostic error = files_.errorAt(position, message);
  for (std::optional<size_t> at = instance_; at; at = instances_[*at].copy.user)
    if (const BlockCopy &copy = instances_[*at].copy; copy.use)
      error.attachNote(files_.locationOf(*copy.use)) << describeUse(copy);
  return error;
}

LogicalResult Expander::expectToken(StringRef token, SourcePosition position, const Twine &after) {
  if (files_.textOf(position.buffer).substr(position.offset).starts_with(token))
    return success();
  return errorAt(position,
                 "expected '" + token + "' after " + after + ", found " + files_.describe(position));
}

// --- Constants ---

/// The constants of the block that is being written, and those of file level.
ConstantScope Expander::scope() const {
  if (!instance_)
    return {parts_, visible_, {}, {}};
  const Instance &instance = instances_[*instance_];
  return {parts_, visible_, instance.block->constants, instance.values};
}

/// Evaluates the expression at `at` of a buffer, and moves `at` after it.
std::optional<ConstantValue> Expander::evaluate(unsigned buffer, size_t &at) {
  const auto lookUp = [this](StringRef name, std::string &message) { return scope().lookUp(name, message); };
  ExpressionReader reader(files_.textOf(buffer), at, lookUp);
  std::optional<ConstantValue> value = reader.read();
  if (!value)
    errorAt({buffer, reader.error().offset}, reader.error().message);
  at = reader.end();
  return value;
}

// --- Writing the text ---

/// Fails if a constant's number would become part of another token.
LogicalResult Expander::checkNeighbours(SourcePosition position, size_t end) {
  const StringRef text = files_.textOf(position.buffer);
  const char before = position.offset == 0 ? ' ' : text[position.offset - 1];
  if (before == ')' || (isWordCharacter(before) && before != 'x')) // the x between sizes
    return errorAt(position, "expected a blank before the constant");
  const StringRef rest = text.substr(end);
  if (rest.empty() || rest.starts_with("//") || rest.starts_with("->") || rest[0] == 'x')
    return success();
  if (StringRef("+-*/").contains(rest[0]))
    return errorAt({position.buffer, end},
                   "arithmetic on constants is written in parentheses, as in $(width / 2)");
  if (isWordCharacter(rest[0]))
    return errorAt({position.buffer, end}, "expected a blank after the constant");
  return success();
}

/// Writes the number of the constant or expression at a `$`. Returns the offset after it.
FailureOr<size_t> Expander::writeConstant(SourcePosition position) {
  const StringRef text = files_.textOf(position.buffer);
  size_t at = position.offset + 1;
  std::optional<ConstantValue> value;
  if (text.substr(at).starts_with("(")) {
    value = evaluate(position.buffer, ++at);
    if (!value || failed(expectToken(")", {position.buffer, at}, "an expression")))
      return failure();
    ++at;
  } else {
    const StringRef name = constantNameAt(text, at);
    at += name.size();
    if (name.empty())
      return errorAt(position,
                     "'$' has no meaning here; $name is the number of `let name = ...`, and $(...) that "
                     "of an expression");
    std::string message;
    const ConstantValue *found = scope().lookUp(name, message);
    if (!found)
      return errorAt(position, message);
    value = *found;
  }
  if (failed(checkNeighbours(position, at)))
    return failure();
  if (StringRef(value->text).starts_with("-") && text.take_front(position.offset).rtrim(" \t").ends_with("-"))
    return errorAt(position, "expected a positive number after '-', found " + value->text +
                                 "; write $(-name), which is the negative of any number");
  out_.put(value->text, position);
  return at;
}

/// Reads `<window = 512, theta = 10000>` at `at`. Returns the offset after it.
FailureOr<size_t> Expander::readValues(const BlockTemplate &block, unsigned buffer, size_t at,
                                       std::vector<std::optional<ConstantValue>> &values) {
  const StringRef text = files_.textOf(buffer);
  const std::string ofBlock = (" of block @" + block.name).str();
  std::vector<StringRef> names;
  for (const BlockConstant &constant : block.constants)
    names.push_back(constant.name);
  do {
    at = skipSpace(text, at + 1);
    const StringRef name = wordAt(text, at);
    const SourcePosition position{buffer, at};
    if (!isConstantName(name))
      return errorAt(position,
                     "expected the name of a constant" + ofBlock + ", found " + files_.describe(position));
    const size_t index = size_t(llvm::find(names, name) - names.begin());
    if (index == names.size())
      return errorAt(position, "block @" + block.name + " has no constant '" + name + "'" +
                                   suggestName(name, names, "; it has " + llvm::join(names, ", ")));
    if (values[index])
      return errorAt(position, "constant '" + name + "'" + ofBlock + " is given twice");
    at = skipSpace(text, at + name.size());
    if (failed(expectToken("=", {buffer, at}, "the name of a constant" + ofBlock)))
      return failure();
    ++at;
    values[index] = evaluate(buffer, at);
    if (!values[index])
      return failure();
    at = skipSpace(text, at);
  } while (text.substr(at).starts_with(","));
  if (failed(expectToken(">", {buffer, at}, "the constants" + ofBlock)))
    return failure();
  return at + 1;
}

/// Writes the name of the copy of a block for the values at `at`. Returns the offset after the values.
FailureOr<size_t> Expander::writeUse(const BlockTemplate &block, SourcePosition position, size_t at) {
  std::vector<std::optional<ConstantValue>> given(block.constants.size());
  FailureOr<size_t> end = at;
  if (const std::optional<size_t> constants = angleAfter(files_.textOf(position.buffer), at))
    end = readValues(block, position.buffer, *constants, given);
  if (failed(end))
    return failure();
  std::vector<ConstantValue> values;
  for (const auto &[constant, value] : llvm::zip_equal(block.constants, given)) {
    if (!value && !constant.defaultValue)
      return errorAt(position, "block @" + block.name + " needs a number for '" + constant.name +
                                   "', as in @" + block.name + "<" + constant.name + " = 1>");
    values.push_back(value ? *value : *constant.defaultValue);
  }
  const std::string symbol = symbolOf(block, values);
  for (std::optional<size_t> user = instance_; user; user = instances_[*user].copy.user)
    if (instances_[*user].block == &block)
      return errorAt(position, "block @" + block.name + " contains itself");
  used_.insert(&block);
  if (symbols_.insert(symbol).second) {
    if (instances_.size() >= kMaxCopies)
      return errorAt(position, "the model needs more than " + Twine(kMaxCopies) +
                                   " copies of blocks, one for each combination of their constants' numbers");
    instances_.push_back({&block, std::move(values), {symbol, position, instance_}});
  }
  out_.put("@\"" + symbol + "\"", position);
  return end;
}

/// Writes the text from a position to the offset `end`.
LogicalResult Expander::write(SourcePosition from, size_t end) {
  const unsigned buffer = from.buffer;
  const StringRef text = files_.textOf(buffer);
  TokenReader tokens(text, from.offset);
  size_t begin = from.offset;
  for (Token token = tokens.next(); token.begin < end; token = tokens.next()) {
    const SourcePosition position{buffer, token.begin};
    const auto block = parts_.templates.find(token.name);
    const bool isUse = token.kind == Token::Symbol && block != parts_.templates.end();
    if (token.kind == Token::Symbol && !isUse && angleAfter(text, token.end))
      return errorAt(position, "@" + token.name +
                                   " has no constants; a block with constants is written `nn.block @" +
                                   token.name + "<window>(...)`");
    if (!isUse && token.kind != Token::Dollar)
      continue;
    out_.copy(text.slice(begin, token.begin), {buffer, begin});
    const FailureOr<size_t> after =
        isUse ? writeUse(block->second, position, token.end) : writeConstant(position);
    if (failed(after))
      return failure();
    if (out_.text().size() > kMaxBytes)
      return errorAt(position, "the model has more than " + Twine(kMaxBytes >> 20) +
                                   " MiB of text when blocks are copied for their constants");
    begin = *after;
    tokens.skipTo(begin);
  }
  out_.copy(text.slice(begin, end), {buffer, begin});
  return success();
}

/// Writes the copies of blocks from `written` on, and moves `written` after them. Copies may use further
/// ones.
LogicalResult Expander::writeCopies(size_t &written) {
  for (; written < instances_.size(); ++written) {
    const BlockTemplate &block = *instances_[written].block;
    instance_ = written;
    visible_ = block.visible;
    out_.beginCopy(instances_[written].copy, block.position);
    if (failed(write({block.position.buffer, block.body}, block.end)))
      return failure();
  }
  instance_ = std::nullopt;
  return success();
}

/// Copies blocks that nothing uses, if all of their constants have defaults, so that the parser checks them.
void Expander::addUnused() {
  for (const auto &[name, block] : parts_.templates) {
    if (used_.contains(&block))
      continue;
    std::vector<ConstantValue> values;
    for (const BlockConstant &constant : block.constants)
      if (constant.defaultValue)
        values.push_back(*constant.defaultValue);
    if (values.size() < block.constants.size())
      continue;
    used_.insert(&block);
    BlockCopy copy{symbolOf(block, values), std::nullopt, std::nullopt};
    instances_.push_back({&block, std::move(values), std::move(copy)});
  }
}

/// Warns of blocks in the main file that nothing uses, if it has a model. Their text is not parsed.
void Expander::warnOfUnused() const {
  if (!out_.text().contains("nn.model"))
    return;
  for (const auto &[name, block] : parts_.templates)
    if (!used_.contains(&block) && block.position.buffer == files_.main())
      mlir::emitWarning(files_.locationOf(block.position))
          << "block @" << name << " is not used, so its text is not checked";
}

FailureOr<ExpandedText> Expander::expand() {
  for (const Chunk &chunk : parts_.chunks) {
    visible_ = chunk.visible;
    if (failed(write(chunk.position, chunk.end)))
      return failure();
  }
  size_t written = 0;
  if (failed(writeCopies(written)))
    return failure();
  addUnused();
  if (failed(writeCopies(written)))
    return failure();
  warnOfUnused();
  return std::move(out_);
}

FailureOr<ExpandedText> expandModel(llvm::SourceMgr &sources, mlir::MLIRContext &context, Imports imports) {
  SourceFiles files(sources, context);
  const FailureOr<ModelParts> parts = readParts(files, imports);
  if (failed(parts))
    return failure();
  FailureOr<ExpandedText> expanded = Expander(files, *parts).expand();
  if (failed(expanded))
    return failure();
  // Each file was checked alone. The parser reads all of them as one text, with numbers for constants.
  const std::optional<TextProblem> problem = findBadText(expanded->text());
  if (!problem)
    return expanded;
  const size_t offset = offsetOf(*problem, expanded->text());
  mlir::InFlightDiagnostic error = files.errorAt(expanded->positionOf(offset), problem->message);
  for (const BlockCopy &copy : expanded->copiesAt(offset))
    if (copy.use)
      error.attachNote(files.locationOf(*copy.use)) << describeUse(copy);
  return failure();
}

// --- Texts for other parsers ---

/// Returns the offset after the expression of a `$` at `at`.
static size_t constantEnd(StringRef text, size_t at) {
  if (!text.substr(at).starts_with("$("))
    return at + 1 + constantNameAt(text, at + 1).size();
  int depth = 0;
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0)
      return at + 1;
  }
  return at;
}

std::string maskExpansions(StringRef text) {
  std::string masked = text.str();
  TokenReader tokens(text, 0);
  const auto blank = [&](size_t begin, size_t end) {
    std::replace_if(
        masked.begin() + ptrdiff_t(begin), masked.begin() + ptrdiff_t(end), [](char c) { return c != '\n'; },
        ' ');
    tokens.skipTo(end);
  };
  for (Token token = tokens.next(); token.kind != Token::End; token = tokens.next()) {
    const bool isName = token.kind == Token::Block || token.kind == Token::Symbol;
    if (token.kind == Token::Let || token.kind == Token::Import) {
      blank(token.begin, std::min(text.find('\n', token.begin), text.size()));
    } else if (token.kind == Token::Dollar) {
      const size_t end = constantEnd(text, token.begin);
      blank(token.begin, end);
      masked[end - 1] = '1';
    } else if (isName && angleAfter(text, token.end)) {
      const size_t close = text.find_first_of(">{}@", token.end);
      if (close != StringRef::npos && text[close] == '>')
        blank(token.end, close + 1);
    }
  }
  return masked;
}

std::optional<TextProblem> findExpansion(StringRef text) {
  TokenReader tokens(text, 0);
  for (Token token = tokens.next(); token.kind != Token::End; token = tokens.next()) {
    const bool isLine = (token.kind == Token::Let || token.kind == Token::Import) && tokens.depth() == 0;
    const bool isBlock = token.kind == Token::Block && angleAfter(text, token.end);
    if (!isLine && !isBlock)
      continue;
    const StringRef before = text.take_front(token.begin);
    return TextProblem{before.count('\n') + 1, token.begin - (before.rfind('\n') + 1) + 1, // npos + 1 is 0
                       "constants, imports and blocks with constants are expanded by `trainc compile FILE "
                       "--compile-to=model`, whose output can be read here"};
  }
  return std::nullopt;
}

} // namespace trainc
