#include "optimized/wrapper/model_tag.h"

namespace graphgate::optimized {
namespace {

ModelTag& tag_of_thread() {
  thread_local ModelTag tag;
  return tag;
}

}  // namespace

ModelTagScope::ModelTagScope(ModelTag tag)
    : before_(std::exchange(tag_of_thread(), std::move(tag))) {}

ModelTagScope::~ModelTagScope() { tag_of_thread() = std::move(before_); }

Result<std::unique_ptr<ModelTagScope>> ModelTagScope::enter(std::string name, bool is_encoder) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
    return bad_input("the model tag '" + name + "' cannot be the name of a folder");
  }
  if (name == tag_of_thread().name) {
    return bad_input("the model tag '" + name + "' is set already");
  }
  return std::unique_ptr<ModelTagScope>(new ModelTagScope({std::move(name), is_encoder}));
}

const ModelTag& current_model_tag() { return tag_of_thread(); }

}  // namespace graphgate::optimized
