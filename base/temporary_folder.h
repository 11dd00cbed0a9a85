// A private folder, made for a run and gone with its owner: the one place that makes such folders.
//
// It has a name that nobody can foresee, and rights for its owner alone (mkdtemp): nothing that
// another has put there is used or followed. What is removed is the folder that was made, and never
// another that stands in its place. Where one is made, those of dead processes are removed.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/scratch_paths.h"

namespace graphgate {

class TemporaryFolder {
 public:
  // Makes "graphgate-KIND-MARK-XXXXXX" (scratch_name.h) in the first of the folders in which one
  // can be made; without any, in the machine's temporary folder. kInfrastructure where there is no
  // such place.
  [[nodiscard]] static Result<TemporaryFolder> make(std::string_view kind,
                                                    const std::vector<std::string>& roots = {});
  // Makes "KIND-XXXXXX" in a folder of ours, which goes with all that is in it.
  [[nodiscard]] static Result<TemporaryFolder> inside(const std::string& folder,
                                                      std::string_view kind);
  // Makes "NAME.partial-MARK-XXXXXX" beside `path`, for what becomes `path` once it is whole.
  [[nodiscard]] static Result<TemporaryFolder> beside(const std::string& path);

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::string& path() const { return path_; }
  // Whether the folder that was made is still there, and nothing else in its place.
  [[nodiscard]] bool is_there() const;
  // Removes what is in it.
  void clear() const;
  // Tells that it was renamed to `path`. It is not temporary any more, and gets the rights of any
  // new folder.
  void keep_as(const std::string& path);

 private:
  TemporaryFolder() = default;
  static Result<TemporaryFolder> made(std::string pattern);

  std::string path_;   // empty: it is another's now
  pid_t process_ = 0;  // that made it: forks remove nothing
  dev_t device_ = 0;
  ino_t number_ = 0;
  ScratchPath owned_;  // a signal that ends the process takes the folder along
};

}  // namespace graphgate
