// Files of the cache. The name of an entry is the SHA-256 of its key; its content is the code, and the code's
// own SHA-256.
#include "lib/Codegen/Kernels/CodeCache.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cstdlib>
#include <optional>

namespace fs = llvm::sys::fs;

/// Changes if createMachine() or the passes make other code for the same key.
static constexpr llvm::StringLiteral kMadeBy = "trainc 1, LLVM " LLVM_VERSION_STRING;

static std::string checksum(llvm::ArrayRef<llvm::StringRef> texts) {
  llvm::SHA256 hash;
  for (llvm::StringRef text : texts)
    hash.update(text);
  const std::array<uint8_t, 32> bytes = hash.final();
  return {bytes.begin(), bytes.end()};
}

static std::optional<std::string> read(llvm::StringRef file) {
  constexpr size_t kChecksumBytes = 32;
  const auto content = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!content || (*content)->getBufferSize() < kChecksumBytes)
    return std::nullopt;
  const llvm::StringRef bytes = (*content)->getBuffer(), code = bytes.drop_back(kChecksumBytes);
  return bytes.take_back(kChecksumBytes) == checksum({code}) ? std::optional(code.str()) : std::nullopt;
}

/// Writes an entry whole or not at all. (LLVM's TempFile would handle signals that this program ignores.)
static void write(llvm::StringRef file, llvm::StringRef code) {
  int descriptor = -1;
  llvm::SmallString<128> aside;
  if (fs::createUniqueFile(file + ".%%%%%%%%", descriptor, aside))
    return;
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << code << checksum({code});
  stream.close();
  const bool failed = stream.has_error();
  stream.clear_error();
  if (failed || fs::rename(aside, file))
    fs::remove(aside);
}

llvm::Expected<std::string>
trainc::codegen::cachedCode(llvm::StringRef key, llvm::function_ref<llvm::Expected<std::string>()> make) {
  const char *folder = std::getenv("TRAINC_KERNEL_CACHE");
  if (!folder || !*folder)
    return make();
  llvm::SmallString<128> file(folder);
  llvm::sys::path::append(file, llvm::toHex(checksum({kMadeBy, key}), /*LowerCase=*/true));
  if (std::optional<std::string> code = read(file))
    return std::move(*code);
  llvm::Expected<std::string> code = make();
  if (code && !fs::create_directories(folder))
    write(file, *code);
  return code;
}
