// Vendor libraries, loaded at run time, so that a machine without them can run plans that do not need them.
#pragma once

#include "base/status.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// A shared library, loaded on demand and never unloaded: vendor libraries own threads and exit handlers.
class VendorLibrary {
public:
  /// Fails with kFailed if the library cannot be loaded; `advice` says where to get it.
  static Result<VendorLibrary> open(std::string file, std::string_view advice);

  /// Address of `symbol`; null if the library lacks it, and the name is then recorded for complete().
  void *find(const char *symbol);
  /// Fails with kFailed and `advice` if find() has missed symbols.
  Status complete(std::string_view advice) const;

private:
  VendorLibrary(std::string file, void *handle) : file_(std::move(file)), handle_(handle) {}

  std::string file_;
  void *handle_;
  std::vector<std::string> missing_;
};

/// Converts a version number of NVIDIA's libraries to text: 91900 to "9.19.0".
std::string vendorVersionText(size_t version);

/// Fails with kFailed and `advice` if `found` is below `least` or belongs to a later major version.
Status expectVendorVersion(std::string_view library, size_t found, size_t least, std::string_view advice);

/// An entry point of a vendor library. A call returns the Status that `Vendor::status(name, code)` makes of
/// the vendor's code. `Function` is the type of the vendor's declaration, so that wrong arguments do not
/// compile.
template <typename Vendor, typename Function> class VendorEntry;
template <typename Vendor, typename Code, typename... Arguments>
class VendorEntry<Vendor, Code(Arguments...)> {
public:
  explicit VendorEntry(const char *name) : name_(name) {}

  void bind(VendorLibrary &library) {
    function_ = reinterpret_cast<Code (*)(Arguments...)>(library.find(name_));
  }
  Status operator()(Arguments... arguments) const { return Vendor::status(name_, function_(arguments...)); }
  /// Calls the function and returns the vendor's own code.
  Code raw(Arguments... arguments) const { return function_(arguments...); }
  /// The Status of a code that raw() returned; always ok for entry points without a code.
  Status status(auto code) const { return Vendor::status(name_, code); }

private:
  const char *name_;
  Code (*function_)(Arguments...) = nullptr;
};

} // namespace trainc

// NOLINTBEGIN(bugprone-macro-parentheses): `name` is a name.
/// A member of an entry-point table, named as in the vendor's header; the header's macros may add a suffix.
#define TRAINC_VENDOR_ENTRY(vendor, name)                                                                    \
  ::trainc::VendorEntry<vendor, decltype(::name)> name { TRAINC_VENDOR_NAME(name) }
#define TRAINC_VENDOR_NAME(name) TRAINC_VENDOR_NAME_INNER(name)
#define TRAINC_VENDOR_NAME_INNER(name) #name
// NOLINTEND(bugprone-macro-parentheses)
