#include "base/vendor_library.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

namespace trainc {

namespace {

Status checkVersion(const VendorFacts &facts, size_t found) {
  constexpr size_t kMajor = 10000;
  if (facts.isOneMajor && found / kMajor > facts.minVersion / kMajor)
    return failed("expected {} {}, found {}; {}", facts.name, facts.minVersion / kMajor,
                  facts.versionText(found), facts.advice);
  if (found >= facts.minVersion)
    return {};
  return failed("expected {} {} or newer, found {}; {}", facts.name, facts.versionText(facts.minVersion),
                facts.versionText(found), facts.advice);
}

} // namespace

std::string vendorVersionText(size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Status VendorTable::bind(const VendorFacts &facts, void *library, bool isBasic) {
  std::vector<std::string_view> missing;
  for (const Symbol &symbol : symbols_)
    if (symbol.isBasic == isBasic && !(*symbol.address = dlsym(library, symbol.name)))
      missing.emplace_back(symbol.name);
  if (missing.empty())
    return {};
  return failed("{} lacks {}, which this trainrun calls; {}", facts.file, fmt::join(missing, ", "),
                facts.advice);
}

Status VendorTable::load(const VendorFacts &facts, Result<size_t> (*version)()) {
  void *library = dlopen(facts.file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return failed("cannot load {}: {}; {}", facts.file, dlerror(), facts.advice);
  TRAINC_RETURN_IF_ERROR(bind(facts, library, /*isBasic=*/true));
  TRAINC_ASSIGN_OR_RETURN(const size_t found, version());
  TRAINC_RETURN_IF_ERROR(checkVersion(facts, found));
  return bind(facts, library, /*isBasic=*/false);
}

} // namespace trainc
