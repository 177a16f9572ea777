#include "base/json.h"

#include <gtest/gtest.h>

namespace ksearch::base {
namespace {

TEST(ParseJson, NamesThePlaceOfAFault) {
  const auto r = parse_json("{\"a\": 1,\n  \"b\": }", "x.json");
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().where, "x.json");
  EXPECT_NE(r.error().what.find("line 2"), std::string::npos) << r.error().what;
}

TEST(ParseJson, RefusesAKeyThatStandsTwice) {
  const auto r = parse_json(R"({"a": {"b": 1, "c": 2, "b": 3}})", "x");
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().what.find("\"b\""), std::string::npos);
  EXPECT_TRUE(parse_json(R"([{"b": 1}, {"b": 2}])", "x"));
}

TEST(ParseJson, RefusesWhatWouldOverflowTheStack) {
  EXPECT_FALSE(parse_json(std::string(100000, '['), "x"));
  EXPECT_TRUE(parse_json(R"("[[[[")", "x"));
}

TEST(ParseJson, KeepsTheOrderOfKeys) {
  EXPECT_EQ(to_line(*parse_json(R"({"z": 1, "a": 2})", "x")), R"({"z":1,"a":2})");
}

TEST(ParseJson, EveryTruncationIsAnError) {
  const std::string whole = R"({"a": [1, {"b": "c\n"}], "d": true})";
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_FALSE(parse_json(whole.substr(0, n), "x")) << n;
}

TEST(ToLine, ReplacesBytesThatAreNoUtf8) { EXPECT_EQ(to_line(Json("a\xff")), "\"a\uFFFD\""); }

Json object() { return Json::parse(R"({"n": 3, "s": "x", "list": [1], "o": {"p": 1}})"); }

TEST(ObjectReader, RefusesAnUnknownKeyAndSaysWhatIsKnown) {
  const Json json = object();
  ObjectReader r(json, "f.json");
  EXPECT_EQ(r.integer("n"), 3);
  EXPECT_EQ(r.text("s"), "x");
  r.array("list");
  const auto done = r.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().where, "f.json: o");
  EXPECT_NE(done.error().todo.find("list, n, s"), std::string::npos);
}

TEST(ObjectReader, KeepsTheFirstFault) {
  const Json json = object();
  ObjectReader r(json, "f.json");
  EXPECT_EQ(r.integer("s"), 0);
  r.text("missing");
  const auto done = r.finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text(), "f.json: s: is string, an integer is wanted");
}

TEST(ObjectReader, NamesNestedPlaces) {
  const Json json = object();
  ObjectReader r(json, "f.json");
  ObjectReader inner(r.object("o"), r.place("o"));
  inner.number("q");
  EXPECT_EQ(inner.finish().error().text(), "f.json: o.q: is missing");
}

TEST(ObjectReader, RefusesWhatIsNoObject) {
  const Json json = Json::array();
  ObjectReader r(json, "f.json");
  EXPECT_EQ(r.finish().error().what, "is array, an object is wanted");
}

}  // namespace
}  // namespace ksearch::base
