#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "my_executor.h"
#include "tools/kit/rapidcheck.h"

using namespace graphgate::kit;

const Engine kEngine({.name = "mine", .promises = {.keeps_layouts = false}},
                     [] { return std::make_unique<MyExecutor>(); });
const Draw kDraw{.ops = "aten.add,aten.mul,aten.neg,aten.relu,aten.transpose"};

RC_GTEST_PROP(MyExecutor, Conforms, ()) { assert_conforms(kEngine, *cases_for(kEngine, kDraw)); }
