// Ahead-of-time files of several programs: one bundle (bundle.h) for each, in a folder.
//
//   FOLDER/NAME.ggbundle    NAME: the program's; what is no letter, digit, '.', '_' or '-' stands
//                           as %XX in it
//
// open() takes the file that is there, and refuses it where it is damaged or was made from
// something else. close() writes the files of programs that made plans which their files lack.
#pragma once

#include "optimized/cache/bundle.h"

namespace graphgate::optimized {

struct BundleFolderOptions {
  std::filesystem::path folder;  // is there
  BundleOptions bundle = {};
  spec::DeviationSet deviations = {};
};

[[nodiscard]] std::shared_ptr<PlanStore> make_bundle_folder(BundleFolderOptions options);

// The file of a program.
[[nodiscard]] std::filesystem::path bundle_file(const std::filesystem::path& folder,
                                                std::string_view program);

}  // namespace graphgate::optimized
