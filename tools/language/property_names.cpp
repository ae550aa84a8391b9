#include "tools/language/property_names.h"

#include "base/nearest_word.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

namespace trainc {

namespace {

class PropertyScanner {
public:
  PropertyScanner(StringRef text, mlir::MLIRContext &context) : text_(text), context_(context) {}

  std::optional<TextProblem> scan() {
    while (at_ < text_.size()) {
      const StringRef rest = text_.substr(at_);
      if (skipComment())
        continue;
      if (rest.starts_with("\"")) {
        const StringRef name = takeString();
        if (text_.substr(at_).ltrim().starts_with("("))
          op_ = mlir::RegisteredOperationName::lookup(name, &context_);
      } else if (rest.starts_with("<{") &&
                 StringRef(")]").contains(text_.take_front(at_).rtrim().take_back())) {
        if (std::optional<TextProblem> found = scanProperties())
          return found;
      } else {
        ++at_;
      }
    }
    return std::nullopt;
  }

private:
  bool skipComment() {
    if (!text_.substr(at_).starts_with("//"))
      return false;
    at_ = std::min(text_.find('\n', at_), text_.size());
    return true;
  }

  /// Takes a string in quotes; returns its content as it is written.
  StringRef takeString() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"')
      at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return text_.slice(begin, at_ - 1);
  }

  /// Takes the properties of the op seen last, which begin with `<{`.
  std::optional<TextProblem> scanProperties() {
    int depth = 0;
    bool isName = false; // a name comes next
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const size_t begin = at_;
      if (skipComment())
        continue;
      if (c == '"' || llvm::isAlpha(c) || c == '_') {
        const StringRef name = c == '"' ? takeString() : takeWord();
        if (isName && isUnknown(name))
          return problemAt(begin, name);
        isName = false;
        continue;
      }
      const bool isArrow = c == '>' && text_[at_ - 1] == '-';
      ++at_;
      if (StringRef("<{([").contains(c))
        ++depth;
      else if (StringRef(">})]").contains(c) && !isArrow)
        --depth;
      if (depth == 0)
        return std::nullopt;
      if ((c == '{' || c == ',') && depth == 2) // within <{
        isName = true;
    }
    return std::nullopt;
  }

  StringRef takeWord() {
    const StringRef word =
        text_.substr(at_).take_while([](char c) { return llvm::isAlnum(c) || StringRef("_$.").contains(c); });
    at_ += word.size();
    return word;
  }

  /// Whether the op is one of this project's without an attribute `name`. Ops of MLIR's own dialects may have
  /// properties that are no attributes.
  bool isUnknown(StringRef name) const {
    if (!op_ || !llvm::is_contained({"dist", "nn", "plan", "train"}, op_->getDialectNamespace()))
      return false;
    return llvm::none_of(op_->getAttributeNames(), [&](mlir::StringAttr each) { return each == name; });
  }

  TextProblem problemAt(size_t offset, StringRef name) const {
    std::vector<std::string> known;
    for (mlir::StringAttr each : op_->getAttributeNames())
      known.push_back(each.str());
    std::string message = "'" + op_->getStringRef().str() + "' has no property '" + name.str() + "'";
    if (!known.empty())
      message += "; " + describeUnknownWord(name, known);
    const StringRef before = text_.take_front(offset);
    return {before.count('\n') + 1, offset - (before.rfind('\n') + 1) + 1, message}; // npos + 1 is 0
  }

  StringRef text_;
  mlir::MLIRContext &context_;
  size_t at_ = 0;
  std::optional<mlir::RegisteredOperationName> op_; ///< the op in generic form that began last
};

} // namespace

std::optional<TextProblem> findUnknownProperty(StringRef text, mlir::MLIRContext &context) {
  return PropertyScanner(text, context).scan();
}

} // namespace trainc
