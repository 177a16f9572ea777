#include "kernel/definition.h"

#include "unit/kernel/fixtures.h"

namespace ksearch::kernel {
namespace {

std::string definition_error(const std::string& text) {
  const auto json = base::parse_json(text, "d.json");
  if (!json) return json.error().text();
  const auto d = parse_definition(*json, "d.json");
  return d ? "fine" : d.error().text();
}

TEST(Definition, ReadsEverything) {
  const Definition d = definition();
  EXPECT_EQ(d.name, "scan");
  ASSERT_EQ(d.axes.size(), 3u);
  EXPECT_EQ(d.axes[2].constant, 16);
  EXPECT_EQ(d.types.at("T"), (std::vector{DType::float32, DType::bfloat16}));
  EXPECT_EQ(d.params[1].kind, ParamKind::float32);
  EXPECT_TRUE(d.tensor("w")->optional);
  EXPECT_EQ(d.tensor("state")->access, Access::inout);
  EXPECT_EQ(d.tensor("out")->access, Access::out);
  EXPECT_EQ(d.tensor("nothing"), nullptr);
  EXPECT_EQ(d.derived[0].function, "max_diff");
  EXPECT_EQ(d.generate[0].settings, (base::Json{{"std", 2.0}}));
}

TEST(Definition, LoadsAFlashInferBenchOne) {
  const std::string text = R"J({
    "name": "rmsnorm_h128", "op_type": "rmsnorm", "tags": ["status:verified"], "description": "",
    "axes": {"batch_size": {"type": "var"}, "hidden_size": {"type": "const", "value": 128}},
    "constraints": ["hidden_size in (128, 256)", "batch_size > 0"],
    "inputs": {"hidden_states": {"shape": ["batch_size", "hidden_size"], "dtype": "bfloat16"},
               "eps": {"shape": null, "dtype": "float32"}},
    "outputs": {"output": {"shape": ["batch_size", "hidden_size"], "dtype": "bfloat16"}},
    "reference": "import torch\n"})J";
  const auto d = parse_definition(*base::parse_json(text, "d"), "d");
  ASSERT_TRUE(d) << d.error().text();
  EXPECT_EQ(d->python_reference, "import torch\n");
  EXPECT_FALSE(d->constraints[0].expr);
  EXPECT_TRUE(d->constraints[1].expr);
  ASSERT_EQ(d->notes.size(), 1u);
  EXPECT_EQ(d->notes[0], "the constraint \"hidden_size in (128, 256)\" is not checked");
  EXPECT_TRUE(d->tensor("eps")->shape.empty());
}

TEST(Definition, NamesThePlaceOfEachFault) {
  const std::string good = kDefinitionText;
  EXPECT_EQ(definition_error(good), "fine");
  EXPECT_EQ(definition_error(with(good, "\"op_type\"", "\"op_typo\"")).substr(0, 40),
            "d.json: op_typo: is not a key of this ob");
  EXPECT_EQ(definition_error(with(good, "[\"B\", \"L\"]", "[\"B\", \"Q\"]")),
            "d.json: inputs.x.shape[1]: \"Q\" is no axis, type or parameter");
  EXPECT_EQ(definition_error(with(good, "\"dtype\": \"T\"", "\"dtype\": \"U\"")),
            "d.json: inputs.x.dtype: \"U\" is no element type and none of `types`");
  EXPECT_EQ(definition_error(with(good, "\"value\": 16", "\"value\": 0")),
            "d.json: axes.N.value: an axis is at least 1");
  EXPECT_EQ(definition_error(with(good, "\"type\": \"bool\"", "\"type\": \"boolean\"")),
            "d.json: params.causal: is of type \"boolean\"; bool, int or float32 is wanted");
  EXPECT_EQ(definition_error(with(good, "max_diff(indptr)", "max_diff(x)")),
            "d.json: derived.longest: \"x\" is no host_visible input");
  EXPECT_EQ(definition_error(with(good, "[\"x\", \"w\"]", "[\"x\", \"out\"]")),
            "d.json: generate[0].tensors: \"out\" is no input");
  EXPECT_EQ(definition_error(with(good, "\"T\": [", "\"L\": [")),
            "d.json: types.L: the name \"L\" is taken; every type has its own");
}

TEST(Definition, WantsTheReasonOfATolerance) {
  const std::string text =
      with(kDefinitionText, "[\"B\", \"L / 2\"], \"dtype\": \"T\"",
           "[\"B\"], \"dtype\": \"T\", \"tolerance\": {\"relative_rms\": 0.1}");
  EXPECT_EQ(definition_error(text), "d.json: outputs.out.tolerance.reason: is missing");
}

TEST(Definition, EveryTruncationIsAnErrorAndNoCrash) {
  const std::string text = kDefinitionText;
  for (std::size_t n = 0; n < text.size(); ++n)
    EXPECT_NE(definition_error(text.substr(0, n)), "fine") << n;
}

}  // namespace
}  // namespace ksearch::kernel
