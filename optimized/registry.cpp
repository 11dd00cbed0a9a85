// Every family of kernels, and the lookup by base name.
#include <unordered_map>

#include "optimized/kernels/families.h"
#include "optimized/synonym_table.h"
#include "spec/base_name.h"

namespace graphgate::optimized {
namespace {

struct Entry {
  std::string_view family;
  const Kernel* kernel = nullptr;
};

struct Family {
  std::string_view name;
  std::span<const Kernel> kernels;
};

std::unordered_map<std::string, Entry> make_table() {
  const Family families[] = {
#define GRAPHGATE_FAMILY(name) {#name, name##_kernels()},
      GRAPHGATE_FAMILIES(GRAPHGATE_FAMILY)
#undef GRAPHGATE_FAMILY
  };
  std::unordered_map<std::string, Entry> table;
  for (const Family& family : families) {
    for (const Kernel& kernel : family.kernels) {
      const bool is_new =
          table.emplace(std::string(kernel.base_name), Entry{family.name, &kernel}).second;
      GRAPHGATE_CHECK(is_new);
    }
  }
  add_same_ops(table);  // the others are taken apart
  return table;
}

Entry find_entry(const spec::OpRow& row) {
  static const std::unordered_map<std::string, Entry> kTable = make_table();
  thread_local RecentFinds<spec::OpRow, decltype(kTable)::value_type> recent;
  const Entry* const found = spec::find_by_base_name(kTable, recent, row);
  return found ? *found : Entry{};
}

}  // namespace

const Kernel* find_kernel(const spec::OpRow& row) { return find_entry(row).kernel; }

std::string_view kernel_family(const spec::OpRow& row) { return find_entry(row).family; }

}  // namespace graphgate::optimized
