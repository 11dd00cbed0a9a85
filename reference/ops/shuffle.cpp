// Ops that exchange channels with one another, or with places of an image.
//
// A result has the channels-last strides of an input of four dimensions that has them, and else
// is contiguous; channel_shuffle keeps those of five dimensions, too. So do PyTorch's kernels for a
// CPU. Elsewhere it copies what it permuted, and all results are contiguous.
#include <array>

#include "reference/movement.h"
#include "reference/ops/norm_parameters.h"
#include "reference/ops/view.h"
#include "reference/registry.h"

namespace graphgate::reference {
namespace {

// An image's sizes with one dimension split in two or more, and the order in which these make up
// the result.
struct Rearrangement {
  Sizes split;
  Sizes order;
  Sizes result;
};

// The operand seen with the sizes `split`, its dimensions in another order, copied into a tensor of
// the sizes `result`.
void emit_rearranged(Call& call, const Rearrangement& how, const Sizes& strides) {
  const Tensor& self = *call.tensor("self");
  const TensorRef made = new_tensor(self.dtype, how.result, strides, self.device);
  const TensorRef parts = reshaped(self, how.split);
  move_all(*made, *view_of(*parts, permuted(*parts, how.order)));
  emit_made(call, made);
}

std::int64_t image_factor(const Call& call, std::string_view name) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t factor = call.integer(name);
  if (self.rank() < 3) {
    throw OpError(call.row().schema.name + " expects input to have at least 3 dimensions");
  }
  if (factor <= 0 || factor > INT32_MAX) {
    throw OpError(call.row().schema.name + " expects a positive " + std::string(name));
  }
  return factor;
}

// [.., lead.., H, W]: sizes in front of an image's channels.
Sizes lead_of(const Tensor& self) { return {self.sizes.begin(), self.sizes.end() - 3}; }

// The identity, then `tail`, counted from behind `lead` dimensions.
Sizes order_after(std::size_t lead, std::initializer_list<std::int64_t> tail) {
  Sizes order;
  for (std::size_t d = 0; d < lead; ++d) order.push_back(static_cast<std::int64_t>(d));
  for (const std::int64_t d : tail) order.push_back(static_cast<std::int64_t>(lead) + d);
  return order;
}

// A size times a factor. Throws OpError for what no size can be.
std::int64_t times(std::int64_t size, std::int64_t factor) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(size, factor, &product)) return product;
  throw OpError("a size of the result is out of range");
}

Sizes joined_sizes(Sizes lead, std::initializer_list<std::int64_t> tail) {
  lead.insert(lead.end(), tail);
  return lead;
}

Sizes kept_strides(const Tensor& self, const Sizes& sizes) {
  return declared_arithmetic().has_cuda_kernels ? spec::contiguous_strides(sizes)
                                                : image_strides(self, sizes);
}

Sizes shuffled_strides(const Tensor& self, const Sizes& sizes) {
  if (self.rank() == 5 && suggests_channels_last(self)) {
    throw OpError("a channels-last input of five dimensions is not supported");
  }
  return kept_strides(self, sizes);
}

// Channels [C r r] become places: r rows and r columns for each.
void pixel_shuffle(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t r = image_factor(call, "upscale_factor");
  const auto at = self.sizes.end() - 3;
  const std::int64_t channels = at[0];
  if (channels % (r * r) != 0) {
    throw OpError(
        "pixel_shuffle expects its input's 'channel' dimension to be divisible by the "
        "square of upscale_factor");
  }
  const Sizes lead = lead_of(self);
  const std::int64_t left = channels / (r * r);
  const Rearrangement how{joined_sizes(lead, {left, r, r, at[1], at[2]}),
                          order_after(lead.size(), {0, 3, 1, 4, 2}),
                          joined_sizes(lead, {left, times(at[1], r), times(at[2], r)})};
  emit_rearranged(call, how, shuffled_strides(self, how.result));
}

void pixel_unshuffle(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t r = image_factor(call, "downscale_factor");
  const auto at = self.sizes.end() - 3;
  if (at[1] % r != 0 || at[2] % r != 0) {
    throw OpError("pixel_unshuffle expects height and width to be divisible by downscale_factor");
  }
  const Sizes lead = lead_of(self);
  const std::int64_t rows = at[1] / r;
  const std::int64_t columns = at[2] / r;
  const Rearrangement how{joined_sizes(lead, {at[0], rows, r, columns, r}),
                          order_after(lead.size(), {0, 2, 4, 1, 3}),
                          joined_sizes(lead, {times(at[0], r * r), rows, columns})};
  emit_rearranged(call, how, shuffled_strides(self, how.result));
}

// Channels [g c] become [c g]; the channels are dimension 1.
void channel_shuffle(Call& call) {
  const Tensor& self = *call.tensor("self");
  const std::int64_t groups = call.integer("groups");
  if (self.rank() < 3) throw OpError("channel_shuffle expects input with > 2 dims");
  if (groups <= 0) throw OpError("Number of groups to divide channels in must be positive");
  const std::int64_t channels = self.sizes[1];
  if (channels % groups != 0) {
    throw OpError("Number of channels must be divisible by groups. Got " +
                  std::to_string(channels) + " channels and " + std::to_string(groups) +
                  " groups.");
  }
  Rearrangement how{self.sizes, {0, 2, 1}, self.sizes};
  how.split[1] = groups;
  how.split.insert(how.split.begin() + 2, channels / groups);
  for (std::int64_t d = 2; d < self.rank(); ++d) how.order.push_back(d + 1);
  emit_rearranged(call, how, kept_strides(self, self.sizes));
}

constexpr std::array kShuffleOps = {
    OpBody{"aten.channel_shuffle", channel_shuffle}.any_dtype().moves("self"),
    OpBody{"aten.native_channel_shuffle", channel_shuffle}.any_dtype().moves("self"),
    OpBody{"aten.pixel_shuffle", pixel_shuffle}.any_dtype().moves("self"),
    OpBody{"aten.pixel_unshuffle", pixel_unshuffle}.any_dtype().moves("self"),
};

}  // namespace

std::span<const OpBody> shuffle_ops() { return kShuffleOps; }

}  // namespace graphgate::reference
