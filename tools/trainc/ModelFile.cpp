#include "tools/trainc/ModelFile.h"

#include "tools/trainc/Paths.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace trainc {

namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;

Status tooLarge(const std::string &name) {
  return invalidInput("{}: expected a model of at most {} MiB", name, kMaxBytes >> 20);
}

Result<std::string> readAll(std::FILE *file, const std::string &name) {
  std::string text, chunk(size_t{64} << 10, '\0');
  while (!std::feof(file) && !std::ferror(file)) {
    text.append(chunk, 0, std::fread(chunk.data(), 1, chunk.size(), file));
    if (text.size() > kMaxBytes)
      return tooLarge(name);
  }
  if (std::ferror(file))
    return invalidInput("{}: cannot read: {}", name, std::strerror(errno));
  return text;
}

} // namespace

Result<std::unique_ptr<llvm::MemoryBuffer>> readModel(const std::string &path) {
  const bool isInput = path == "-";
  if (Status status = isInput ? Status() : requireRegularFile(path); !status.ok())
    return invalidInput("{}; - reads standard input", status.message());
  std::FILE *file = isInput ? stdin : std::fopen(path.c_str(), "rb");
  if (!file)
    return invalidInput("cannot open input file '{}': {}", path, std::strerror(errno));
  Result<std::string> text = readAll(file, isInput ? "standard input" : path);
  if (!isInput)
    std::fclose(file);
  if (!text.ok())
    return text.status();
  return llvm::MemoryBuffer::getMemBufferCopy(*text, isInput ? "<stdin>" : path);
}

} // namespace trainc
