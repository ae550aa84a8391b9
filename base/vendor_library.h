// Vendor libraries, loaded at run time, so that a machine without them can run plans that do not need them.
#pragma once

#include "base/status.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Converts a version number of NVIDIA's libraries to text: 91900 to "9.19.0".
std::string vendorVersionText(size_t version);

/// Properties of a vendor library.
struct VendorFacts {
  const char *file;      ///< "libcudnn.so.9"
  std::string_view name; ///< with which a version number makes a noun phrase
  size_t minVersion;
  bool isOneMajor;         ///< a later major version may change entry points under the same names
  std::string_view advice; ///< where to get the library, or how to do without it
  std::string (*versionText)(size_t version) = vendorVersionText;
};

/// The entry points of a vendor library, which is loaded on demand and never unloaded: vendor libraries own
/// threads and exit handlers. A library's table derives from this class, and declares its entry points with
/// TRAINC_VENDOR_ENTRY.
class VendorTable {
public:
  VendorTable() = default;
  VendorTable(const VendorTable &) = delete;
  VendorTable &operator=(const VendorTable &) = delete;

protected:
  /// Loads the library and finds its entry points. Fails with kFailed and the facts' advice if the library
  /// cannot be loaded, lacks an entry point, or has a version that does not suit. Messages of `version` may
  /// use entry points that are declared with TRAINC_VENDOR_BASIC: a version that is too old is reported
  /// before the other entry points, which it may lack.
  Status load(const VendorFacts &facts, Result<size_t> (*version)());

private:
  template <typename Vendor, typename Function> friend class VendorEntry;

  struct Symbol {
    const char *name;
    void **address;
    bool isBasic;
  };
  Status bind(const VendorFacts &facts, void *library, bool isBasic);

  std::vector<Symbol> symbols_;
};

/// An entry point of a vendor library. A call returns the Status that `Vendor::status(name, code)` makes of
/// the vendor's code. `Function` is the type of the vendor's declaration, so that wrong arguments do not
/// compile.
template <typename Vendor, typename Function> class VendorEntry;
template <typename Vendor, typename Code, typename... Arguments>
class VendorEntry<Vendor, Code(Arguments...)> {
public:
  VendorEntry(VendorTable &table, const char *name, bool isBasic) : name_(name) {
    table.symbols_.push_back({name, &address_, isBasic});
  }

  Status operator()(Arguments... arguments) const { return Vendor::status(name_, raw(arguments...)); }
  /// Calls the function and returns the vendor's own code.
  Code raw(Arguments... arguments) const {
    return reinterpret_cast<Code (*)(Arguments...)>(address_)(arguments...);
  }
  /// The Status of a code that raw() returned; always ok for entry points without a code.
  Status status(auto code) const { return Vendor::status(name_, code); }

private:
  const char *name_;
  void *address_ = nullptr;
};

} // namespace trainc

// NOLINTBEGIN(bugprone-macro-parentheses): `name` is a name.
/// A member of a VendorTable, named as in the vendor's header; the header's macros may add a suffix. The
/// table names its `Vendor`.
#define TRAINC_VENDOR_ENTRY(name) TRAINC_VENDOR_MEMBER(name, false)
/// An entry point that every version of the library has.
#define TRAINC_VENDOR_BASIC(name) TRAINC_VENDOR_MEMBER(name, true)
#define TRAINC_VENDOR_MEMBER(name, isBasic)                                                                  \
  ::trainc::VendorEntry<Vendor, decltype(::name)> name { *this, TRAINC_VENDOR_NAME(name), isBasic }
#define TRAINC_VENDOR_NAME(name) TRAINC_VENDOR_NAME_INNER(name)
#define TRAINC_VENDOR_NAME_INNER(name) #name
// NOLINTEND(bugprone-macro-parentheses)
