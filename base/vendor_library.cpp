#include "base/vendor_library.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

namespace trainc {

Result<VendorLibrary> VendorLibrary::open(std::string file, std::string_view advice) {
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return failed("cannot load {}: {}; {}", file, dlerror(), advice);
  return VendorLibrary(std::move(file), handle);
}

void *VendorLibrary::find(const char *symbol) {
  void *address = dlsym(handle_, symbol);
  if (address == nullptr)
    missing_.emplace_back(symbol);
  return address;
}

Status VendorLibrary::complete(std::string_view advice) const {
  if (missing_.empty())
    return {};
  return failed("{} lacks {}, which this trainrun calls; {}", file_, fmt::join(missing_, ", "), advice);
}

std::string vendorVersionText(size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

Status expectVendorVersion(std::string_view library, size_t found, size_t least, std::string_view advice) {
  constexpr size_t kMajor = 10000;
  if (found / kMajor > least / kMajor) // a later major version may change entry points under the same names
    return failed("expected {} {}, found {}; {}", library, least / kMajor, vendorVersionText(found), advice);
  if (found >= least)
    return {};
  return failed("expected {} {} or newer, found {}; {}", library, vendorVersionText(least),
                vendorVersionText(found), advice);
}

} // namespace trainc
