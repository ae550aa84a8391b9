#include "lib/Support/SourceName.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <map>
#include <set>

using namespace mlir;

namespace trainc {

/// Returns the first location of type `Found` in `loc`, including `loc`; null if there is none. Visits
/// locations in the order of walk(), but much faster, because it is called for every op of a plan.
template <typename Found> static Found findLocation(Location loc) {
  if (auto found = dyn_cast<Found>(loc))
    return found;
  SmallVector<Location, 4> parts;
  if (auto fused = dyn_cast<FusedLoc>(loc))
    llvm::append_range(parts, fused.getLocations());
  else if (auto call = dyn_cast<CallSiteLoc>(loc))
    parts = {call.getCallee(), call.getCaller()};
  else if (auto named = dyn_cast<NameLoc>(loc))
    parts = {named.getChildLoc()};
  for (const Location part : parts)
    if (auto found = findLocation<Found>(part))
      return found;
  return {};
}

StringRef scopeName(Location loc) {
  const auto named = findLocation<NameLoc>(loc);
  return named ? named.getName().getValue() : StringRef();
}

static constexpr StringLiteral kRecomputed = "recomputed";

Location recomputedLoc(Location loc) {
  MLIRContext *context = loc.getContext();
  return FusedLoc::get(context, loc, StringAttr::get(context, kRecomputed));
}

bool isRecomputed(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto what = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata()) : StringAttr();
  return what && what == kRecomputed;
}

FileLineColLoc fileLocation(Location loc) { return findLocation<FileLineColLoc>(loc); }

std::string placeText(Location loc) {
  const FileLineColLoc file = fileLocation(loc);
  return file ? (file.getFilename().getValue() + ":" + Twine(file.getLine())).str() : "";
}

static std::string scopedKind(Operation *op, StringRef outerScope) {
  StringRef kind = op->getName().getStringRef(), scope = scopeName(op->getLoc());
  return scope.empty() || scope == outerScope ? kind.str() : (scope + ": " + kind).str();
}

/// Returns e.g. "nn.add and nn.exp at line 2, nn.log at line 3". Each op appears once; constants are omitted.
/// Lines of several files name their files: "nn.add at line 2 of a.mlir".
static std::string listMembers(Block &block, StringRef outerScope) {
  std::map<std::pair<StringRef, unsigned>, std::set<std::string>> byLine;
  std::set<StringRef> files;
  for (Operation &member : block.without_terminator())
    if (FileLineColLoc file = fileLocation(member.getLoc()); file && member.getNumOperands() > 0) {
      files.insert(file.getFilename().getValue());
      byLine[{file.getFilename().getValue(), file.getLine()}].insert(scopedKind(&member, outerScope));
    }
  auto atLine = [&files](auto &line) {
    const auto [file, number] = line.first;
    const std::string suffix = files.size() == 1 ? "" : (" of " + llvm::sys::path::filename(file)).str();
    return llvm::join(line.second, " and ") + " at line " + std::to_string(number) + suffix;
  };
  return llvm::join(llvm::map_range(byLine, atLine), ", ");
}

std::string sourceName(Operation *op) {
  std::string name = scopedKind(op, "");
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return name;
  std::string members = listMembers(op->getRegion(0).front(), scopeName(op->getLoc()));
  return members.empty() ? name : name + " (" + members + ")";
}

} // namespace trainc
