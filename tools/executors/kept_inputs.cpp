#include "tools/executors/kept_inputs.h"

#include <algorithm>
#include <map>

#include "tools/report/json.h"
#include "tools/store/stored_tensors.h"

namespace graphgate::tools {
namespace {

using interop::JsonCursor;
using spec::HostStorage;
using spec::HostTensor;

std::shared_ptr<HostStorage> with_room(std::size_t bytes) {
  auto storage = std::make_shared<HostStorage>();
  storage->bytes.reserve(std::max<std::size_t>(bytes, 1));
  return storage;
}

}  // namespace

Json KeptPlaces::note(std::span<const spec::InputValue> inputs) {
  Json kept = Json::array();
  last_.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto* tensor = std::get_if<HostTensor>(&inputs[i]);
    if (!tensor) continue;
    const bool stays = last_[i].lock() == tensor->storage;
    const auto& bytes = tensor->storage->bytes;
    const bool is_kept = stays || bytes.capacity() > bytes.size();
    if (is_kept && bytes.capacity() <= UINT32_MAX) {
      kept.push_back({{"input", i}, {"bytes", bytes.capacity()}, {"stays", stays}});
    }
    last_[i] = tensor->storage;
  }
  return kept;
}

Result<void> KeptInputs::place(const JsonCursor& call, std::vector<spec::InputValue>& inputs) {
  last_.resize(inputs.size());
  std::map<const HostStorage*, std::shared_ptr<HostStorage>> moved;
  const auto place_one = [&](const JsonCursor& each) -> Result<void> {
    GRAPHGATE_TRY(const std::size_t index, read_index(each, "input"));
    GRAPHGATE_TRY(const std::size_t bytes, read_index(each, "bytes"));
    bool stays = false;
    GRAPHGATE_TRY_VOID(read_optional(each, "stays", stays));
    const auto* tensor = index < inputs.size() ? std::get_if<HostTensor>(&inputs[index]) : nullptr;
    if (!tensor) return each.error("that input is no tensor");
    const std::vector<std::byte>& given = tensor->storage->bytes;
    if (bytes < given.size()) return each.error("there is less room than the input has bytes");
    const bool is_there = stays && last_[index] && last_[index]->bytes.capacity() >= given.size();
    const auto [at, is_new] =
        moved.try_emplace(tensor->storage.get(), is_there ? last_[index] : with_room(bytes));
    if (is_new) at->second->bytes.assign(given.begin(), given.end());
    return {};
  };
  GRAPHGATE_TRY_VOID(read_list(call, "kept", place_one));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto* tensor = std::get_if<HostTensor>(&inputs[i]);
    if (!tensor) continue;
    const auto found = moved.find(tensor->storage.get());
    if (found != moved.end()) tensor->storage = found->second;
    last_[i] = tensor->storage;
  }
  return {};
}

}  // namespace graphgate::tools
