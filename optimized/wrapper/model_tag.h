// Names for models that live side by side in one process: a language model, its drafter, an
// encoder.
//
//   {
//     GRAPHGATE_TRY(const auto scope, ModelTagScope::enter("drafter"));
//     ... models made here are tagged "drafter" ...
//   }
//
// The tag keeps their cache folders apart. Scopes nest; each thread has its own. Outside of all
// scopes the tag is "backbone".
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace graphgate::optimized {

inline constexpr std::int64_t kEncoderRangeEnd = std::int64_t{1} << 31;

struct ModelTag {
  std::string name = "backbone";
  // Encoders see any size: the last compile range goes up to sizes below kEncoderRangeEnd.
  bool is_encoder = false;
};

class ModelTagScope {
 public:
  // kBadInput for a tag that is set already: two models would share a folder unnoticed; and for
  // one that cannot name a folder.
  [[nodiscard]] static Result<std::unique_ptr<ModelTagScope>> enter(std::string name,
                                                                    bool is_encoder = false);
  ~ModelTagScope();
  ModelTagScope(const ModelTagScope&) = delete;
  ModelTagScope& operator=(const ModelTagScope&) = delete;

 private:
  explicit ModelTagScope(ModelTag tag);
  ModelTag before_;
};

// Of this thread, now.
[[nodiscard]] const ModelTag& current_model_tag();

}  // namespace graphgate::optimized
