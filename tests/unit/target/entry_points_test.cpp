#include "target/cpu/entry_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "target/cpu/manifest.h"

namespace ksearch::target {
namespace {
using kernel::BoundScalar;
using kernel::BoundStruct;
using kernel::DType;
using kernel::ScalarKind;
using testing::ElementsAre;
using testing::HasSubstr;

kernel::BoundLaunch launch(std::vector<kernel::BoundArg> args, kernel::BoundDefines defines = {}) {
  kernel::BoundLaunch l;
  l.kernel = "k";
  l.args = std::move(args);
  l.defines = std::move(defines);
  return l;
}

TEST(EntryPoints, SignatureFollowsThePlan) {
  const Signature s =
      signature_of(launch({kernel::BoundTensor{"x", 0, false, DType::bfloat16, {}},
                           kernel::BoundTensor{"out", 0, true, DType::float32, {}},
                           BoundScalar{ScalarKind::i64, std::int64_t{3}, "n"},
                           BoundScalar{ScalarKind::f32, 0.5, "scale"},
                           BoundScalar{ScalarKind::boolean, std::int64_t{1}, "causal"}}));
  EXPECT_THAT(s.types, ElementsAre("const ks_bf16*", "float*", "int64_t", "float", "bool"));
}

TEST(EntryPoints, StructsAreLaidOutByCsRules) {
  const BoundStruct s{{BoundScalar{ScalarKind::boolean, std::int64_t{1}, "a"},
                       BoundScalar{ScalarKind::i64, std::int64_t{2}, "b"},
                       BoundScalar{ScalarKind::i32, std::int64_t{3}, "c"}}};
  const StructLayout layout = layout_of(s);
  EXPECT_THAT(layout.offsets, ElementsAre(0, 8, 16));
  EXPECT_EQ(layout.bytes, 24u);
  EXPECT_EQ(layout.alignment, 8u);
}

TEST(EntryPoints, OneObjectForEachSetOfDefines) {
  kernel::BoundProgram a, b;
  a.launches = {launch({}, {{"T", "float"}}), launch({}, {{"T", "float"}})};
  b.launches = {launch({}, {{"T", "ks_half"}}), launch({}, {{"T", "float"}})};
  const auto objects = objects_of({a, b});
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0].defines[0].second, "float");
  EXPECT_EQ(objects[0].kernels.size(), 1u);
  EXPECT_EQ(objects[1].defines[0].second, "ks_half");
}

TEST(EntryPoints, CompilesOneUnitOfAllSourcesWithTheHarnessHeaderAndTheDefines) {
  kernel::Program program;
  program.sources = {{"tile.h", "// tile"}, {"a.cpp", "#include \"tile.h\""}, {"b.cpp", ""}};
  const auto request = compile_request(program, {{{"BK", "64"}}, {{"k", {}, {}}}}, false);
  std::string main;
  for (const auto& [path, text] : request.files)
    if (path == request.main) main = text;
  EXPECT_THAT(main, HasSubstr("#include \"a.cpp\"\n#include \"b.cpp\"\n"));
  EXPECT_THAT(main, testing::Not(HasSubstr("tile.h")));
  EXPECT_THAT(request.flags, testing::Contains("-DBK=64"));
  EXPECT_THAT(request.flags, testing::Not(testing::Contains("-ffast-math")));
}

TEST(Manifest, RoundTrips) {
  const Manifest manifest{{{"/cache/kernel.so", {{{"T", "float"}}, {{"k", {"float*"}, {"out"}}}}}}};
  const auto read = parse_manifest(to_json(manifest), "manifest");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->objects.size(), 1u);
  EXPECT_EQ(read->objects[0].file, "/cache/kernel.so");
  EXPECT_EQ(read->objects[0].plan.defines, manifest.objects[0].plan.defines);
  EXPECT_EQ(read->objects[0].plan.kernels, manifest.objects[0].plan.kernels);
}

}  // namespace
}  // namespace ksearch::target
