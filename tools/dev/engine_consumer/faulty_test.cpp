// The same property of the executor with its mistake: it is to fail, with a small case.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "my_executor.h"
#include "tools/kit/rapidcheck.h"

using namespace graphgate::kit;

const Engine kEngine({.name = "faulty", .promises = {.keeps_layouts = false}},
                     [] { return std::make_unique<MyExecutor>(/*forgets_views=*/true); });
const Draw kDraw{.ops = "aten.add,aten.mul,aten.neg,aten.relu,aten.transpose"};

RC_GTEST_PROP(FaultyExecutor, Conforms, ()) {
  assert_conforms(kEngine, *cases_for(kEngine, kDraw));
}
