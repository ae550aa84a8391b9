#include "tools/trainc-lsp/imports.h"

#include "llvm/ADT/STLExtras.h"

#include <filesystem>

using llvm::StringRef;

namespace trainc {

/// Files of a model at most: far more than real models have.
static constexpr size_t kMaxFiles = 1000;

std::vector<ImportLine> importsOf(StringRef text) {
  std::vector<ImportLine> lines;
  StringRef line;
  for (int number = 0; !text.empty(); ++number) {
    std::tie(line, text) = text.split('\n');
    StringRef rest = line.ltrim();
    if (rest.consume_front("import") && (rest = rest.ltrim(" \t")).consume_front("\""))
      lines.push_back({number, line, rest.take_until([](char c) { return c == '"'; })});
  }
  return lines;
}

std::string importedPath(StringRef importer, const ImportLine &line) {
  const std::filesystem::path folder = std::filesystem::path(importer.str()).parent_path();
  return (folder / line.file.str()).string();
}

std::vector<SourceText>
withImports(SourceText main, llvm::function_ref<std::optional<std::string>(const std::string &)> read) {
  std::vector<SourceText> files;
  files.push_back(std::move(main));
  for (size_t importer = 0; importer < files.size() && files.size() < kMaxFiles; ++importer) {
    const SourceText from = files[importer]; // adding a file moves the others
    for (const ImportLine &line : importsOf(from.text)) {
      const std::string path =
          std::filesystem::path(importedPath(from.file, line)).lexically_normal().string();
      const bool isKnown = llvm::any_of(files, [&](const SourceText &each) { return each.file == path; });
      std::optional<std::string> text = isKnown ? std::nullopt : read(path);
      if (text)
        files.push_back({path, std::move(*text)});
    }
  }
  return files;
}

} // namespace trainc
