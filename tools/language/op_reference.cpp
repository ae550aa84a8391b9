#include "tools/language/op_reference.h"

#include "tools/language/text_position.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;

namespace trainc {

namespace {

/// Operands and attributes that a section of a page lists for an op.
struct Section {
  StringRef text;
  llvm::StringSet<> operands, names, symbols, flags;
};

/// Writes an op's assembly format, as ODS has it, the way an author of models reads it.
class SyntaxWriter {
public:
  SyntaxWriter(const Section &section, StringRef format) : section_(section), rest_(format) {}

  std::string write() {
    writeUntil("");
    return std::move(out_);
  }
  std::vector<std::string> takeClauses() { return std::move(clauses_); }

private:
  void writeUntil(StringRef end);
  void writeItem();
  void writeCustom();
  void writeVariable();
  void writeList();
  void skipArguments();
  void put(StringRef text);

  const Section &section_;
  StringRef rest_;
  std::string out_;
  std::vector<std::string> clauses_;
};

void SyntaxWriter::put(StringRef text) {
  const bool isAttached =
      text.starts_with(",") || text == "]" || text == "..." || out_.empty() || out_.back() == '[';
  out_ += (isAttached ? "" : " ") + text.str();
}

void SyntaxWriter::writeUntil(StringRef end) {
  while (!(rest_ = rest_.ltrim()).empty() && (end.empty() || !end.contains(rest_.front())))
    writeItem();
}

void SyntaxWriter::writeVariable() {
  const StringRef name = rest_.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  rest_ = rest_.drop_front(name.size());
  if (section_.operands.contains(name))
    put(("%" + name).str());
  else if (section_.names.contains(name))
    put(("\"" + name + "\"").str());
  else if (section_.symbols.contains(name))
    put(("@" + name).str());
  else
    put(("<" + name + ">").str());
}

/// Skips the rest of a list of arguments, with its bracket.
void SyntaxWriter::skipArguments() {
  for (int depth = 1; depth > 0 && !rest_.empty(); rest_ = rest_.drop_front())
    depth += rest_.front() == '(' ? 1 : rest_.front() == ')' ? -1 : 0;
}

/// `Types` are never written, as they are inferred. Else the first argument is what is written.
void SyntaxWriter::writeCustom() {
  const StringRef kind = rest_.take_until([](char c) { return c == '>'; });
  rest_ = rest_.drop_front(std::min(rest_.size(), kind.size() + StringRef(">(").size()));
  if (kind != "Types" && kind != "ConstantType" && rest_.consume_front("$")) {
    writeVariable();
    if (kind == "TypedValues")
      put(", ...");
    if (kind == "Pair") { // of values
      put(",");
      rest_.consume_front(", $");
      writeVariable();
    }
  }
  skipArguments();
}

/// Clauses that may stand in any order: `oilist( a | b )`.
void SyntaxWriter::writeList() {
  do {
    put("[");
    writeUntil("|)");
    put("]");
  } while (rest_.consume_front("|"));
  rest_.consume_front(")");
}

void SyntaxWriter::writeItem() {
  if (rest_.consume_front("`")) {
    const StringRef word = rest_.take_until([](char c) { return c == '`'; });
    rest_ = rest_.drop_front(std::min(rest_.size(), word.size() + 1));
    if (!word.trim().empty() && word != ":")
      put(word);
    if (!word.empty() && llvm::all_of(word, [](char c) { return llvm::isAlpha(c) || c == '_'; }))
      clauses_.push_back(word.str());
  } else if (rest_.consume_front("custom<")) {
    writeCustom();
  } else if (rest_.consume_front("oilist(")) {
    writeList();
  } else if (rest_.consume_front("type(")) {
    skipArguments();
  } else if (rest_.consume_front("(")) {
    put("[");
    writeUntil(")");
    rest_.consume_front(")?");
    put("]");
  } else if (rest_.consume_front("$")) {
    const StringRef name = rest_.take_while(isWordCharacter);
    if (section_.flags.contains(name))
      rest_ = rest_.drop_front(name.size()); // the word before it says all
    else
      writeVariable();
  } else if (!rest_.consume_front("attr-dict")) {
    rest_ = rest_.drop_front(); // an anchor
  }
}

/// The first texts in `begin` ... `end` of each line that begins so.
void readNames(StringRef text, StringRef begin, StringRef end,
               llvm::function_ref<void(StringRef, StringRef)> take) {
  for (StringRef line; !text.empty();) {
    std::tie(line, text) = text.split('\n');
    if (!line.consume_front(begin))
      continue;
    const auto [name, behind] = line.split(end);
    take(name, behind);
  }
}

Section sectionOf(StringRef text) {
  Section section{.text = text, .operands = {}, .names = {}, .symbols = {}, .flags = {}};
  const StringRef operands = text.split("#### Operands:").second.split("####").first;
  readNames(operands, "| `", "`", [&](StringRef name, StringRef) { section.operands.insert(name); });
  readNames(text, "<tr><td><code>", "</code>", [&](StringRef name, StringRef kind) {
    if (kind.contains("mlir::StringAttr"))
      section.names.insert(name);
    if (kind.contains("mlir::FlatSymbolRefAttr"))
      section.symbols.insert(name);
    if (kind.contains("mlir::UnitAttr"))
      section.flags.insert(name);
  });
  return section;
}

/// The text between an op's syntax, or summary, and what ODS lists.
StringRef descriptionOf(StringRef text) {
  text = text.ltrim();
  size_t end = text.size();
  for (StringRef list : {"Traits: ", "Interfaces: ", "Effects: ", "#### "})
    end = std::min(end, text.starts_with(list) ? 0 : text.find(("\n" + list).str()));
  return text.take_front(end).trim();
}

OpReference readOp(StringRef name, StringRef text) {
  const Section section = sectionOf(text);
  OpReference op{.name = name.str(), .summary = {}, .syntax = {}, .description = {}, .clauses = {}};
  StringRef rest = text.ltrim();
  if (rest.consume_front("_")) {
    const auto [summary, behind] = rest.split("_\n");
    op.summary = summary.str();
    rest = behind.ltrim();
  }
  if (rest.consume_front("Syntax:\n\n```\noperation ::= ")) {
    const auto [format, behind] = rest.split("\n```");
    SyntaxWriter writer(section, format);
    op.syntax = writer.write();
    op.clauses = writer.takeClauses();
    rest = behind;
  }
  op.description = descriptionOf(rest).str();
  return op;
}

void readPage(StringRef page, llvm::function_ref<bool(StringRef)> wanted, std::vector<OpReference> &ops) {
  constexpr StringRef kHeading = "\n### `";
  for (size_t at = page.find(kHeading); at != StringRef::npos;) {
    const StringRef section = page.substr(at + kHeading.size());
    const auto [name, behind] = section.split('`');
    const size_t next = section.find(kHeading);
    const StringRef text = behind.split('\n').second;
    if (wanted(name))
      ops.push_back(readOp(name, text.take_front(std::min(text.size(), section.take_front(next).size()))));
    at = next == StringRef::npos ? next : at + kHeading.size() + next;
  }
}

std::vector<OpReference> readPages() {
  std::vector<OpReference> ops;
  for (const char *family : {"elementwise", "shape", "linear", "composite", "model"}) {
    const std::vector<OpReference> found =
        readOps(referencePage(("reference/nn-" + StringRef(family) + ".md").str()),
                referencePage("reference/ops.md"));
    ops.insert(ops.end(), found.begin(), found.end());
  }
  readPage(referencePage("reference/train.md"), [](StringRef name) { return name == "train.program"; }, ops);
  return ops;
}

} // namespace

std::vector<OpReference> readOps(StringRef page, StringRef examples) {
  const StringRef generated = examples.rsplit("The compiler generates the other ops").second;
  std::vector<OpReference> ops;
  readPage(page, [&](StringRef name) { return !generated.contains(("`" + name + "`").str()); }, ops);
  return ops;
}

const std::vector<OpReference> &opReferences() {
  static const std::vector<OpReference> ops = readPages();
  return ops;
}

const OpReference *findOpReference(StringRef name) {
  const auto found = llvm::find_if(opReferences(), [&](const OpReference &op) { return op.name == name; });
  return found == opReferences().end() ? nullptr : &*found;
}

} // namespace trainc
