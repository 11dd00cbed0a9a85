// Channels of images exchanged with one another, or with places.
#include "fuzz/generate/family.h"

namespace graphgate::fuzz {
namespace {

using spec::DType;

enum Shuffled : std::size_t { kPixels, kBack, kChannels, kChannelsNative };

bool draw_shuffle(Draft& draft, GeneReader& genes, std::size_t variant) {
  static constexpr const char* kNames[] = {
      "aten.pixel_shuffle.default", "aten.pixel_unshuffle.default", "aten.channel_shuffle.default",
      "aten.native_channel_shuffle.default"};
  static constexpr const char* kFactors[] = {"upscale_factor", "downscale_factor", "groups",
                                             "groups"};
  const DType dtype = draft.draw_floating(genes);
  const Shape from = variant == kBack ? Shape{1, 1, 4, 4} : Shape{1, 4, 2, 2};
  const TensorIndex self = draft.pick_like(genes, dtype, from);
  const Shape sizes = variant == kPixels ? Shape{1, 1, 4, 4} : Shape{1, 4, 2, 2};
  const Layout layout = row_major_like(draft, {self}, sizes);
  NodeBuilder node(draft, kNames[variant]);
  node.tensor("self", self).integer(kFactors[variant], 2);
  node.fresh(dtype, sizes, layout);
  return true;
}

constexpr DrawnOp kShuffleRows[] = {
    {"aten.pixel_shuffle", 1, draw_shuffle, kPixels, 6},
    {"aten.pixel_unshuffle", 1, draw_shuffle, kBack, 6},
    {"aten.channel_shuffle", 1, draw_shuffle, kChannels, 6},
    {"aten.native_channel_shuffle", 1, draw_shuffle, kChannelsNative, 6}};

}  // namespace

std::span<const DrawnOp> shuffle_rows() { return kShuffleRows; }

}  // namespace graphgate::fuzz
