// Which server, which key: what is sent where, and what is refused before anything is sent.
#include "cli/model_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/engineer_choice.h"
#include "cli/json_rpc.h"

namespace ksearch::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class ModelChoice : public testing::Test {
 protected:
  void SetUp() override {
    context_.environment = {{"KSEARCH_HOME", KSEARCH_SOURCE_DIR},
                            {"OPENAI_API_KEY", "sk-openai"},
                            {"KSEARCH_API_KEY", "sk-own"},
                            {"MINE", " sk-mine\n"}};
    context_.home = Home::find(context_.environment).value();
  }
  base::Result<llm::Endpoint> endpoint(const std::string& model) const {
    auto files = load_model_files(context_, options_);
    if (!files) return std::unexpected(files.error());
    return endpoint_of(context_, *files, options_, model);
  }
  std::string fault(const std::string& model) const {
    const auto found = endpoint(model);
    return found ? "none" : found.error().text();
  }
  Context context_;
  ModelOptions options_;
};

TEST_F(ModelChoice, AProviderByItsModelsAndByName) {
  const auto openai = endpoint("gpt-5.2");
  ASSERT_TRUE(openai) << openai.error().text();
  EXPECT_EQ(openai->base_url, "https://api.openai.com/v1");
  EXPECT_EQ(openai->wire->name, "responses");
  EXPECT_EQ(openai->key, "sk-openai");
  EXPECT_TRUE(openai->price);
  EXPECT_EQ(endpoint("openai/new-model")->model, "new-model");
  EXPECT_THAT(fault("claude-opus-4-6"), HasSubstr("ANTHROPIC_API_KEY is not set"));
  EXPECT_THAT(fault("llama"), HasSubstr("--base-url"));
}

TEST_F(ModelChoice, AServerOfOnesOwnGetsNoProvidersKey) {
  options_.base_url = "http://127.0.0.1:8080";
  EXPECT_EQ(endpoint("gpt-5.2")->key, "sk-own");
  EXPECT_EQ(endpoint("gpt-5.2")->wire->name, "chat");
  context_.environment.erase("KSEARCH_API_KEY");
  EXPECT_EQ(endpoint("gpt-5.2")->key, "");
  options_.key_variable = "MINE";
  EXPECT_EQ(endpoint("meta/llama")->key, "sk-mine");
  EXPECT_EQ(endpoint("meta/llama")->model, "meta/llama");
  options_.key_variable = "NOT_THERE";
  EXPECT_THAT(fault("x"), HasSubstr("NOT_THERE is not set"));
}

TEST_F(ModelChoice, AKeyDoesNotTravelInTheClear) {
  for (const char* url :
       {"http://example.com/v1", "http://localhost.example.com", "http://localhost@example.com",
        "ftp://localhost", "localhost:8080", "http://127.0.0.1:1 /v1", "https://", "http:///v1"}) {
    options_.base_url = url;
    EXPECT_THAT(fault("x"), HasSubstr("--base-url")) << url;
    EXPECT_THAT(fault("x"), Not(HasSubstr("sk-own")));
  }
  for (const char* url : {"https://example.com", "http://localhost:1/v1", "http://[::1]:8080"}) {
    options_.base_url = url;
    EXPECT_EQ(fault("x"), "none") << url;
  }
}

TEST_F(ModelChoice, OptionsComeBackFromARun) {
  options_.planner = "a";
  options_.base_url = "http://localhost";
  options_.key_variable = "MINE";
  options_.max_output = 5;
  options_.stream = false;
  store::RunInfo info;
  info.options = {{"model", to_json(options_)}};
  const auto back = model_options_of(info);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(to_json(*back), to_json(options_));
}

TEST(Money, AmountsAsPeopleWriteThem) {
  EXPECT_EQ(parse_money("5usd"), 5);
  EXPECT_EQ(parse_money("0.5 USD"), 0.5);
  EXPECT_EQ(parse_money("$2"), 2);
  for (const char* bad : {"", "usd", "0", "-1", "5 eur", "1e9", "nan", "5usd5"})
    EXPECT_EQ(parse_money(bad), std::nullopt) << bad;
}

TEST(EngineerChoices, ModelsAreNamed) {
  EXPECT_EQ(parse_engineer("llm:gpt-5.2")->value, "gpt-5.2");
  const auto both = parse_engineer("catalog+llm:gemini/gemini-2.5-pro");
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->catalog);
  EXPECT_EQ(both->text(), "catalog+llm:gemini/gemini-2.5-pro");
  EXPECT_FALSE(parse_engineer("llm:"));
}

TEST(JsonRpc, AnswersRequestsAndNothingElse) {
  const RpcMethod echo = [](const std::string& method,
                            const base::Json& params) -> std::expected<base::Json, RpcError> {
    if (method != "echo") return std::unexpected(RpcError{kMethodNotFound, "no " + method});
    return params;
  };
  const auto answer = [&](const char* line) { return answer_rpc(line, echo).value_or(""); };
  EXPECT_EQ(answer(R"({"jsonrpc": "2.0", "id": "a", "method": "echo", "params": {"x": 1}})"),
            R"({"jsonrpc":"2.0","id":"a","result":{"x":1}})");
  EXPECT_THAT(answer(R"({"jsonrpc": "2.0", "id": 1, "method": "other"})"), HasSubstr("-32601"));
  EXPECT_THAT(answer("{"), HasSubstr("-32700"));
  EXPECT_THAT(answer("[]"), HasSubstr("-32600"));
  EXPECT_THAT(answer(R"({"id": 1})"), HasSubstr("-32600"));
  for (const char* silent :
       {"", " \r", R"({"method": "notifications/initialized"})", R"({"id": 1, "result": {}})"})
    EXPECT_EQ(answer(silent), "") << silent;
}

}  // namespace
}  // namespace ksearch::cli
