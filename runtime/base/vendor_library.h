// Libraries of a vendor, loaded at run time: a machine without them runs what does not need them.
#pragma once

#include "runtime/base/status.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// A shared library that is loaded when it is needed, and never unloaded: vendors' libraries keep threads and
/// handlers of their own.
class VendorLibrary {
public:
  /// Fails (kFailed), with `advice` on where to get it, when there is no such library.
  static Result<VendorLibrary> open(std::string file, std::string_view advice);

  /// The address of a symbol; null, and the name is noted, where the library lacks it.
  void *find(const char *symbol);
  /// Fails (kFailed), with `advice`, when find() has missed symbols.
  Status complete(std::string_view advice) const;

private:
  VendorLibrary(std::string file, void *handle) : file_(std::move(file)), handle_(handle) {}

  std::string file_;
  void *handle_;
  std::vector<std::string> missing_;
};

/// "9.19.0" of 91900, which is how NVIDIA's libraries number their versions.
std::string vendorVersionText(size_t version);

/// Fails (kFailed), with `advice`, when a library is older than `least`, or of a later major version.
Status expectVendorVersion(std::string_view library, size_t found, size_t least, std::string_view advice);

/// An entry point of such a library. Called, it returns the project's Status, which `Vendor::status(name,
/// code)` makes of the vendor's code. `Function` is the type of the vendor's own declaration, so that a wrong
/// argument does not compile.
template <typename Vendor, typename Function> class VendorEntry;
template <typename Vendor, typename Code, typename... Arguments>
class VendorEntry<Vendor, Code(Arguments...)> {
public:
  explicit VendorEntry(const char *name) : name_(name) {}

  void bind(VendorLibrary &library) {
    function_ = reinterpret_cast<Code (*)(Arguments...)>(library.find(name_));
  }
  Status operator()(Arguments... arguments) const { return Vendor::status(name_, function_(arguments...)); }
  /// The same, with the vendor's own code as the answer.
  Code raw(Arguments... arguments) const { return function_(arguments...); }
  /// The Status of a code that raw() gave; entry points without one have none.
  Status status(auto code) const { return Vendor::status(name_, code); }

private:
  const char *name_;
  Code (*function_)(Arguments...) = nullptr;
};

} // namespace trainc

// NOLINTBEGIN(bugprone-macro-parentheses): `name` is a name.
/// A member of a table of entry points: named as the vendor's header names it, whose macros may add a suffix.
#define TRAINC_VENDOR_ENTRY(vendor, name)                                                                    \
  ::trainc::VendorEntry<vendor, decltype(::name)> name { TRAINC_VENDOR_NAME(name) }
#define TRAINC_VENDOR_NAME(name) TRAINC_VENDOR_NAME_INNER(name)
#define TRAINC_VENDOR_NAME_INNER(name) #name
// NOLINTEND(bugprone-macro-parentheses)
