// Prices and models as data: ours are read, the user's are laid over them.
#include "llm/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/prices.h"
#include "os/files.h"

namespace ksearch::llm {
namespace {

using testing::HasSubstr;

std::string ours(const char* name) {
  return os::read_file(std::string(KSEARCH_SOURCE_DIR) + "/knowledge/" + name).value();
}

TEST(Prices, OursNameTheirSources) {
  const auto prices = Prices::parse(ours("prices.json"), "prices.json");
  ASSERT_TRUE(prices) << prices.error().text();
  EXPECT_GT(prices->all().size(), 20u);
  for (const auto& [name, price] : prices->all())
    EXPECT_THAT(price.source, HasSubstr("https://")) << name;
}

TEST(Prices, FindsAModelByItsNamesAndDates) {
  const auto prices = Prices::parse(R"({"sample_spec": {"input_cost_per_token": "text"},
    "gpt-5": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5},
    "gpt-5-mini": {"input_cost_per_token": 2e-7, "output_cost_per_token": 2e-6, "mode": "chat"},
    "gemini/gemini-2.5-pro": {"input_cost_per_token": 3e-6, "output_cost_per_token": 1e-5},
    "dall-e-3": {"input_cost_per_pixel": 1}})",
                                    "p");
  ASSERT_TRUE(prices) << prices.error().text();
  EXPECT_EQ(prices->find("gpt-5")->in, 1e-6);
  EXPECT_EQ(prices->find("gpt-5-2025-08-07")->in, 1e-6);
  EXPECT_EQ(prices->find("gpt-5-mini-2025-08-07")->in, 2e-7);
  EXPECT_EQ(prices->find("gemini-2.5-pro")->in, 3e-6);
  for (const char* unknown : {"gpt-5-pro", "gpt-50", "gpt", "dall-e-3", "sample_spec"})
    EXPECT_EQ(prices->find(unknown), nullptr) << unknown;
}

TEST(Prices, CountCachedTokensAtTheirOwnPrice) {
  const Price price{1e-6, 1e-5, 1e-7, 1.25e-6, 0, 0, {}};
  EXPECT_DOUBLE_EQ(price.of({1000, 600, 100, 10}), 300e-6 + 60e-6 + 125e-6 + 100e-6);
  EXPECT_DOUBLE_EQ((Price{1e-6, 0, {}, {}, 0, 0, {}}).of({1000, 600, 100, 0}), 1000e-6);
}

TEST(Prices, AFigureForAMillionTokensIsCaught) {
  const auto wrong = Prices::parse(
      R"({"m": {"input_cost_per_token": 1.25, "output_cost_per_token": 10}})", "p.json");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("p.json: m.input_cost_per_token"));
  EXPECT_THAT(wrong.error().todo, HasSubstr("1.25e-6"));
}

TEST(Models, OursNameWhoSellsWhat) {
  const auto models = Models::parse(ours("models.json"), "models.json");
  ASSERT_TRUE(models) << models.error().text();
  const auto seller = [&](const char* model) {
    const Provider* provider = models->provider_of(model);
    return provider ? provider->name : "nobody";
  };
  EXPECT_EQ(seller("gpt-5.2"), "openai");
  EXPECT_EQ(seller("claude-sonnet-4-6"), "anthropic");
  EXPECT_EQ(seller("gemini-3.1-pro-preview"), "gemini");
  EXPECT_EQ(seller("llama-4"), "nobody");
  EXPECT_EQ(models->quirks("openai", "gpt-5.2").max_tokens, "max_completion_tokens");
  EXPECT_EQ(models->quirks("", "claude-opus-4-6").max_output, 32000);
}

TEST(Models, TheUsersFileIsLaidOverOurs) {
  auto models = Models::parse(R"({"format": "ksearch.models/1", "providers": [
    {"name": "a", "base_url": "https://a/v1", "api": "chat", "models": ["x-*"]}],
    "models": [{"models": ["x-*"], "quirks": {"json": false, "body": {"effort": "low", "n": 1}}}]})",
                              "1");
  auto over = Models::parse(R"({"format": "ksearch.models/1", "providers": [
    {"name": "a", "base_url": "https://b/v1", "api": "messages", "models": ["x-*"]}],
    "models": [{"models": ["X-1"], "provider": "a", "quirks": {"body": {"effort": "high"}}},
               {"models": ["*"], "provider": "c", "quirks": {"max_output": 1}}]})",
                            "2");
  ASSERT_TRUE(models && over);
  models->lay_over(std::move(*over));
  ASSERT_EQ(models->providers().size(), 1u);
  EXPECT_EQ(models->provider_of("x-1")->base_url, "https://b/v1");
  const Quirks quirks = models->quirks("a", "x-1");
  EXPECT_FALSE(quirks.json);
  EXPECT_EQ(quirks.max_output, 0);
  EXPECT_EQ(quirks.body, (base::Json{{"effort", "high"}, {"n", 1}}));
}

TEST(Models, SaysWhatIsWrongWithAFile) {
  const auto error = [](const char* text) {
    const auto models = Models::parse(text, "m.json");
    return models ? std::string("fine") : models.error().text();
  };
  EXPECT_THAT(error(R"({"format": "ksearch.models/2"})"), HasSubstr("ksearch.models/1"));
  EXPECT_THAT(error(R"({"format": "ksearch.models/1", "providers": [
    {"name": "a", "base_url": "u", "api": "rest"}]})"),
              HasSubstr("chat, responses or messages"));
  EXPECT_THAT(error(R"({"format": "ksearch.models/1", "models": [
    {"models": ["x"], "quirks": {"temperature": 1}}]})"),
              HasSubstr("models[0].quirks.temperature"));
}

TEST(Models, Patterns) {
  EXPECT_TRUE(matches("gpt-*", "gpt-5"));
  EXPECT_TRUE(matches("*-mini*", "gpt-5-mini-2025"));
  EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches("a*b", "abc"));
  EXPECT_FALSE(matches("", "a"));
}

}  // namespace
}  // namespace ksearch::llm
