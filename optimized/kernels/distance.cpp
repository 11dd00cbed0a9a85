// Distances between rows: cdist between two sets, pdist within one.
#include <algorithm>

#include "optimized/codegen/distance_text.h"
#include "optimized/codegen/type_text.h"
#include "optimized/converted_rows.h"
#include "optimized/kernels/elements/rows.h"
#include "optimized/kernels/families.h"

namespace graphgate::optimized {
namespace {

using Dims = std::vector<std::int64_t>;

// The p-norm of a - b.
template <class C>
C distance_of(const C* a, const C* b, std::int64_t n, C p) {
  return element::RowNorm<C>{p}(element::Difference<C, const C*, const C*>{a, b}, n);
}

void require_distance(const KernelCall& call, const Tensor& tensor) {
  if (!spec::is_floating_point(tensor.dtype)) throw OpError("a distance wants floating inputs");
  if (!(call.real("p") >= 0)) throw OpError("the order of a distance is 0 or more");
}

// Every row of x1 against every row of x2, the leading sizes broadcast.
struct Sets {
  Tensor a, b;  // [..., rows, columns]
  Sizes sizes;  // [..., rows of a, rows of b]
};

Sets sets_of(const KernelCall& call) {
  const Tensor& a = call.tensor("x1");
  const Tensor& b = call.tensor("x2");
  if (a.rank() < 2 || b.rank() < 2 || a.size(-1) != b.size(-1) || a.dtype != b.dtype) {
    throw OpError("cdist does not fit " + print_sizes(a.sizes) + " and " + print_sizes(b.sizes));
  }
  Sizes leading =
      broadcast_sizes({a.sizes.begin(), a.sizes.end() - 2}, {b.sizes.begin(), b.sizes.end() - 2});
  const auto spread = [&](const Tensor& t) {
    Sizes sizes = leading;
    sizes.insert(sizes.end(), t.sizes.end() - 2, t.sizes.end());
    return broadcast_to(t, sizes);
  };
  Sets out{spread(a), spread(b), leading};
  out.sizes.insert(out.sizes.end(), {a.size(-2), b.size(-2)});
  return out;
}

void infer_cdist(Inference& call) {
  Sets sets = sets_of(call);
  require_distance(call, sets.a);
  call.make(sets.a.dtype, std::move(sets.sizes));
}

Launch bind_cdist(const Binding& call) {
  const Sets sets = sets_of(call);
  const Dims rows = {sets.a.rank() - 2, sets.a.rank() - 1};
  std::string function;
  Launch launch = with_real(sets.a.dtype, [&]<class C>() -> Launch {
    const C p = static_cast<C>(call.real("p"));
    function = callable_text<C>(element::RowNorm<C>{p});
    return [a = Rows(sets.a, rows), b = Rows(sets.b, rows), to = Rows(call.result(), rows),
            result = call.result(), dtype = sets.a.dtype, width = sets.a.size(-1),
            a_rows = sets.a.size(-2), b_rows = sets.b.size(-2), p] {
      std::vector<C> left(at(a.length()));
      std::vector<C> right(at(b.length()));
      std::vector<C> out(at(to.length()));
      for (std::int64_t r = 0; r < to.count(); ++r) {
        a.template load<C>(r, left.data());
        b.template load<C>(r, right.data());
        for (std::int64_t i = 0; i < a_rows; ++i) {
          for (std::int64_t j = 0; j < b_rows; ++j) {
            out[at(i * b_rows + j)] =
                distance_of(left.data() + i * width, right.data() + j * width, width, p);
          }
        }
        store_row<C>(result, to, r, dtype, out.data());
      }
    };
  });
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch), {distance_text(call.result(), sets.a, sets.b, function)});
}

void infer_pdist(Inference& call) {
  const Tensor& self = call.tensor("self");
  if (self.rank() != 2) throw OpError("pdist wants a matrix, not " + print_sizes(self.sizes));
  require_distance(call, self);
  if (!is_contiguous(self)) throw OpError("pdist wants a contiguous matrix");
  const std::int64_t n = self.sizes[0];
  call.make(self.dtype, {n <= 1 ? 0 : n * (n - 1) / 2});
}

Launch bind_pdist(const Binding& call) {
  const Tensor& self = call.tensor("self");
  std::string function;
  Launch launch = with_real(self.dtype, [&]<class C>() -> Launch {
    const C p = static_cast<C>(call.real("p"));
    function = callable_text<C>(element::RowNorm<C>{p});
    return [from = Rows(self, {0, 1}), to = Rows(call.result(), {0}), result = call.result(),
            dtype = self.dtype, rows = self.sizes[0], width = self.sizes[1], p] {
      std::vector<C> all(at(from.length()));
      std::vector<C> out(at(to.length()));
      from.template load<C>(0, all.data());
      C* next = out.data();
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = i + 1; j < rows; ++j) {
          *next++ = distance_of(all.data() + i * width, all.data() + j * width, width, p);
        }
      }
      store_row<C>(result, to, 0, dtype, out.data());
    };
  });
  if (call.listener() == nullptr) return launch;
  return described(std::move(launch), {pair_distance_text(call.result(), self, function)});
}

}  // namespace

std::span<const Kernel> distance_kernels() {
  static constexpr Kernel kKernels[] = {
      {"aten._cdist_forward", infer_cdist, bind_cdist},
      {"aten._pdist_forward", infer_pdist, bind_pdist},
  };
  return kKernels;
}

}  // namespace graphgate::optimized
