// A folder that appears when it is complete.
#pragma once

#include "base/status.h"

#include <filesystem>

namespace trainc {

/// A folder under construction. It has a temporary name beside its final one, and is removed with all files
/// unless publish() succeeds.
class NewFolder {
public:
  /// `path` is the final name. Fails with kInvalidInput if it exists, and with kFailed if no folder can be
  /// made beside it. `option` is for messages, such as "-o".
  static Result<NewFolder> create(std::string_view option, std::filesystem::path path);

  NewFolder(NewFolder &&other) noexcept;
  NewFolder &operator=(NewFolder &&) = delete;
  ~NewFolder();

  /// The temporary name, under which files are written.
  const std::filesystem::path &path() const { return temporary_; }
  /// Gives the folder its final name.
  Status publish();

private:
  NewFolder(std::filesystem::path temporary, std::filesystem::path path)
      : temporary_(std::move(temporary)), final_(std::move(path)) {}

  std::filesystem::path temporary_; ///< empty after publish()
  std::filesystem::path final_;
};

} // namespace trainc
