#include "domain/text/json_schema.h"

#include <gtest/gtest.h>

#include "domain/workflow/block_type.h"

namespace vedette::domain {
namespace {

using base::Json;

ValidationFaults Apply(const char* schema, Json* value) {
  ValidationFaults faults;
  ApplySchema(base::ParseJsonOrThrow(schema), Json::array({"body"}), value, &faults);
  return faults;
}

std::string TypesOf(const char* schema, Json value) {
  std::string types;
  for (const ValidationFault& fault : Apply(schema, &value)) {
    types += (types.empty() ? "" : " ") + fault.type;
  }
  return types;
}

TEST(JsonSchema, EachKeywordHasItsTypeOfFault) {
  struct Case {
    const char* schema;
    const char* value;
    const char* types;
  };
  for (const Case& c : std::initializer_list<Case>{
           {R"({"type": "string"})", "1", "string_type"},
           {R"({"type": "integer"})", "1.5", "int_type"},
           {R"({"type": "integer"})", "1.0", ""},
           {R"({"type": "integer"})", "true", "int_type"},
           {R"({"type": "number"})", "\"1\"", "float_type"},
           {R"({"type": "boolean"})", "0", "bool_type"},
           {R"({"type": "array"})", "{}", "list_type"},
           {R"({"type": "object"})", "[]", "dict_type"},
           {R"({"type": ["string", "null"]})", "null", ""},
           {R"({"type": ["string", "null"]})", "1", "string_type"},
           {R"({"required": ["a"]})", "{}", "missing"},
           {R"({"additionalProperties": false})", R"({"a": 1})", "extra_forbidden"},
           {R"({"additionalProperties": {"type": "string"}})", R"({"a": 1})", "string_type"},
           {R"({"enum": ["a", "b"]})", "\"c\"", "enum"},
           {R"({"enum": [1]})", "1.0", ""},
           {R"({"const": 1})", "2", "literal_error"},
           {R"({"minimum": 1})", "0", "greater_than_equal"},
           {R"({"maximum": 1})", "2", "less_than_equal"},
           {R"({"minLength": 2})", "\"ä\"", "string_too_short"},
           {R"({"maxLength": 2})", "\"äöü\"", "string_too_long"},
           {R"({"maxLength": 2})", "\"äö\"", ""},
           {R"({"minItems": 1})", "[]", "too_short"},
           {R"({"maxItems": 1})", "[1, 2]", "too_long"},
           {R"({"uniqueItems": true})", R"(["a", "b", "a", "a"])", "duplicate duplicate"},
           {R"({"uniqueItems": true})", R"(["1", 1])", ""},
           {R"({"minProperties": 1})", "{}", "too_short"},
           {R"({"maxProperties": 0})", R"({"a": 1})", "too_long"},
           {R"({"items": {"type": "string"}})", "[1, \"a\", 2]", "string_type string_type"},
           {R"({"properties": {"a": {"type": "string"}}})", R"({"a": 1})", "string_type"}}) {
    EXPECT_EQ(TypesOf(c.schema, base::ParseJsonOrThrow(c.value)), c.types)
        << c.schema << " " << c.value;
  }
}

TEST(JsonSchema, AnIntegerIsOneInEveryNotation) {
  for (const char* text : {"100", "100.0", "1e2", "1E+2", "1000e-1", "100.00"}) {
    Json value;
    ASSERT_FALSE(base::ParseJson(text, &value, {.keep_numbers = true}));
    EXPECT_EQ(Apply(R"({"type": ["integer", "null"], "maximum": 100})", &value).size(), 0U) << text;
    EXPECT_EQ(value.get<int>(), 100) << text;
  }
  for (const char* text : {"1.50", "15e-1", "123456789012345678901", "1e300"}) {
    Json value;
    ASSERT_FALSE(base::ParseJson(text, &value, {.keep_numbers = true}));
    EXPECT_EQ(Apply(R"({"type": "integer", "maximum": 100})", &value).size(), 1U) << text;
  }
  Json zero;
  ASSERT_FALSE(base::ParseJson("-0", &zero, {.keep_numbers = true}));
  EXPECT_EQ(Apply(R"({"type": "integer"})", &zero).size(), 0U);
  EXPECT_EQ(zero, 0);
}

TEST(JsonSchema, AFaultNamesTheWayToTheValue) {
  Json value = base::ParseJsonOrThrow(R"({"a": [{"b": 1}]})");
  const auto faults = Apply(
      R"({"properties": {"a": {"items": {"properties": {"b": {"type": "string"}}}}}})", &value);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].loc, Json::array({"body", "a", 0, "b"}));
  EXPECT_EQ(faults[0].input, 1);
}

TEST(JsonSchema, DefaultsAreFilledInWhereAMemberIsAbsent) {
  Json value = base::ParseJsonOrThrow(R"({"given": null, "inner": {}})");
  const auto faults = Apply(R"({"properties": {
      "given": {"default": 1}, "absent": {"type": "integer", "default": 2},
      "inner": {"properties": {"deep": {"default": []}}}}})",
                            &value);
  EXPECT_TRUE(faults.empty());
  EXPECT_EQ(value,
            base::ParseJsonOrThrow(R"({"given": null, "inner": {"deep": []}, "absent": 2})"));
}

TEST(JsonSchema, TheSchemasOfBlocksHaveNoOtherKeywords) {
  EXPECT_EQ(UnknownKeywords(base::ParseJsonOrThrow(
                R"({"type": "object", "pattern": "x", "items": {"$ref": "y"}})")),
            (std::vector<std::string>{"pattern", "$ref"}));
  for (const BlockType* type : BlockTypes()) {
    const Json schema = base::ParseJsonOrThrow(type->specs_schema);
    EXPECT_TRUE(UnknownKeywords(schema).empty()) << type->name;
    EXPECT_EQ(schema.at("additionalProperties"), false) << type->name;
  }
}

}  // namespace
}  // namespace vedette::domain
