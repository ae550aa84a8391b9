#include "dialects/NN/PlainText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace trainc;

bool trainc::isUtf8(llvm::StringRef text) {
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  return llvm::isLegalUTF8String(&begin, reinterpret_cast<const llvm::UTF8 *>(text.end()));
}

bool trainc::isPlainText(llvm::StringRef text) {
  return !text.empty() && isUtf8(text) &&
         llvm::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}
