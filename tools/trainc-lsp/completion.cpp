#include "dialects/Train/Optimizers.h"
#include "dialects/Train/ProgramLines.h"
#include "plan/facts/schedules.h"
#include "plan/settings/settings.h"
#include "tools/language/op_reference.h"
#include "tools/language/text_position.h"
#include "tools/trainc-lsp/cursor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>

namespace json = llvm::json;
using llvm::StringRef;

namespace trainc {

namespace {

/// Numbers of the protocol.
enum class Kind { Function = 3, Variable = 6, Class = 7, Property = 10, Value = 12, Keyword = 14 };

class Completions {
public:
  Completions(const TextPlace &place, const ModelFacts &facts)
      : cursor_(place), place_(place), facts_(facts) {}

  json::Value find() {
    if (isInsideQuotes())
      addParameters();
    else if (cursor_.word.starts_with("$"))
      addConstants();
    else if (cursor_.word.starts_with("%"))
      addValues();
    else if (cursor_.word.starts_with("@"))
      addSymbols();
    else if (cursor_.enclosing == Enclosing::Program)
      addSettings();
    else if (mayBeginOp())
      addOps();
    else
      addClauses();
    return json::Object{{"isIncomplete", false}, {"items", std::move(items_)}};
  }

private:
  bool isInsideQuotes() const { return cursor_.before().count('"') % 2 == 1; }
  bool mayBeginOp() const {
    const StringRef before = cursor_.before().trim();
    return before.empty() || before.ends_with("=");
  }
  void add(StringRef label, StringRef text, Kind kind, StringRef detail, StringRef documentation = "");
  void addParameters();
  void addConstants();
  void addValues();
  void addSymbols();
  void addSettings();
  void addChoice(StringRef word) { add(word, word, Kind::Value, ""); }
  bool addValuesOf(StringRef line);
  void addOps();
  void addClauses();

  Cursor cursor_;
  const TextPlace &place_;
  const ModelFacts &facts_;
  json::Array items_;
};

} // namespace

/// Offers `text` in place of the cursor's word. Editors disagree about where words begin, so its place is
/// told.
void Completions::add(StringRef label, StringRef text, Kind kind, StringRef detail, StringRef documentation) {
  const auto at = [&](size_t column) {
    return json::Object{{"line", place_.position.line}, {"character", int64_t(column)}};
  };
  // Texts are copied: JSON only refers to a StringRef.
  json::Object item{{"label", label.str()},
                    {"kind", int(kind)},
                    {"filterText", text.str()},
                    {"textEdit", json::Object{{"range", json::Object{{"start", at(cursor_.begin)},
                                                                     {"end", at(cursor_.column)}}},
                                              {"newText", text.str()}}}};
  if (!detail.empty())
    item["detail"] = detail.str();
  if (!documentation.empty())
    item["documentation"] = json::Object{{"kind", "markdown"}, {"value", documentation.str()}};
  items_.push_back(std::move(item));
}

void Completions::addParameters() {
  for (const std::string &name : facts_.parameters)
    add(name, name, Kind::Property, "parameter");
}

void Completions::addValues() {
  const TextPosition position(cursor_.text, cursor_.lineOffset + cursor_.begin);
  for (StringRef name : position.valuesBefore())
    add(("%" + name).str(), ("%" + name).str(), Kind::Variable, "");
}

void Completions::addConstants() {
  for (const std::string &name : constantsOf(cursor_.text.take_front(cursor_.lineOffset)))
    add("$" + name, "$" + name, Kind::Value, constantLine(cursor_.text, name).value_or(""));
}

void Completions::addSymbols() {
  const StringRef keyword = cursor_.enclosing == Enclosing::Program ? "nn.model" : "nn.block";
  for (const std::string &name : namesOf(cursor_.text, keyword))
    add("@" + name, "@" + name, Kind::Class, keyword, headingOf(cursor_.text, keyword, name).value_or(""));
}

/// Offers the words that may follow the word at the begin of a line. Returns false if there are none.
bool Completions::addValuesOf(StringRef line) {
  if (line == "optimizer")
    for (const train::OptimizerKind &kind : train::optimizerKinds())
      addChoice(kind.word);
  else if (line == "schedule")
    for (const ScheduleFormula &schedule : kSchedules)
      addChoice(schedule.name);
  else if (const train::Setting *setting = train::findSetting(line);
           setting && setting->kind == train::ValueKind::Choice)
    for (StringRef word : setting->words())
      addChoice(word);
  else
    return false;
  return true;
}

/// The values of the setting before the cursor, or the words that may begin a line.
void Completions::addSettings() {
  const StringRef before = cursor_.before().trim();
  const StringRef last =
      before.take_back(before.size() - std::min(before.size(), before.find_last_of(" (,") + 1));
  if (addValuesOf(last))
    return;
  if (before.count('(') > before.count(')'))
    return;
  for (const train::ProgramLine &line : train::kProgramLines)
    add(line.word, line.word, Kind::Property, line.form, line.help);
  for (const train::Setting *setting : train::kSettings)
    if (setting != &train::kMicroBatch && setting != &train::kSeqLen) // set by `batch`
      add(setting->name, setting->name, Kind::Property, setting->values, describeSetting(*setting));
}

/// With the dialect before it, an op's own name is enough to look at.
void Completions::addOps() {
  for (const OpReference &op : opReferences()) {
    const bool isTop = op.name == "nn.block" || op.name == "nn.model" || op.name == "train.program";
    if (isTop == (cursor_.enclosing == Enclosing::File)) {
      const StringRef dialect = StringRef(op.name).split('.').first;
      const bool isTyped = cursor_.word.starts_with((dialect + ".").str());
      add(isTyped ? StringRef(op.name).drop_front(dialect.size() + 1) : StringRef(op.name), op.name,
          Kind::Function, op.syntax, op.summary + (op.description.empty() ? "" : "\n\n" + op.description));
    }
  }
}

/// Words of the op's syntax that the line does not have yet.
void Completions::addClauses() {
  const OpReference *op = findOpReference(cursor_.opName());
  if (!op)
    return;
  llvm::SmallVector<StringRef> words;
  cursor_.before().split(words, ' ');
  for (const std::string &clause : op->clauses)
    if (!llvm::is_contained(words, clause))
      add(clause, clause, Kind::Keyword, op->syntax);
}

json::Value completionsAt(const TextPlace &place, const ModelFacts &facts) {
  return Completions(place, facts).find();
}

} // namespace trainc
