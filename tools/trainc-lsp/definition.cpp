#include "tools/language/text_position.h"
#include "tools/trainc-lsp/cursor.h"

#include <tuple>

using llvm::StringRef;
namespace lsp = llvm::lsp;

namespace trainc {

/// Returns the range of `name` in the first line that begins with `keyword` and the name.
static std::optional<lsp::Range> rangeAfter(StringRef keyword, StringRef name, StringRef text) {
  StringRef line;
  for (int number = 0; !text.empty(); ++number) {
    std::tie(line, text) = text.split('\n');
    StringRef rest = line.ltrim();
    if (!rest.consume_front(keyword) || rest.take_while(isWordCharacter) != name)
      continue;
    const int begin = int(line.size() - rest.size());
    return lsp::Range({number, begin}, {number, begin + int(name.size())});
  }
  return std::nullopt;
}

std::optional<lsp::Location> definitionAt(const TextPlace &place, llvm::ArrayRef<SourceText> files) {
  const StringRef word = Cursor(place).word, name = word.ltrim("@$");
  static constexpr StringRef kSymbols[] = {"nn.block @", "nn.model @", "train.program @"},
                             kConstants[] = {"let "};
  if (name.empty())
    return std::nullopt;
  for (const SourceText &each : files)
    for (const StringRef keyword :
         word.starts_with("@") ? llvm::ArrayRef(kSymbols) : llvm::ArrayRef(kConstants))
      if (const std::optional<lsp::Range> range = rangeAfter(keyword, name, each.text)) {
        llvm::Expected<lsp::URIForFile> uri = lsp::URIForFile::fromFile(each.file);
        if (uri)
          return lsp::Location(*uri, *range);
        llvm::consumeError(uri.takeError());
      }
  return std::nullopt;
}

} // namespace trainc
