#include "api/tenant/documents.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "api/tenant/handlers.h"
#include "base/json.h"

namespace vedette::api {
namespace {

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return std::tolower(c); });
  return text;
}

base::Json Document() {
  return base::ParseJsonOrThrow(OpenApiJson());
}

TEST(Documents, DescribeEveryRouteAndNoOther) {
  std::set<std::string> described;
  const base::Json document = Document();
  for (const auto& [path, item] : document["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method != "parameters") described.insert(method + " " + path);
    }
  }
  std::set<std::string> served;
  for (const Route& route : Routes()) {
    served.insert(LowerCase(std::string(route.method)) + " " + std::string(route.pattern));
  }
  EXPECT_EQ(described, served);
}

TEST(Documents, DescribeBodiesAndKeysAsTheRoutesHaveThem) {
  const base::Json document = Document();
  for (const Route& route : Routes()) {
    const base::Json& operation =
        document["paths"][std::string(route.pattern)][LowerCase(std::string(route.method))];
    EXPECT_EQ(operation.contains("requestBody"), route.body != rest::Body::kNone) << route.pattern;
    const bool open = operation.contains("security") && operation["security"].empty();
    // What shows a client's assertion in its body, is a signed link, or is about the session of a
    // cookie, has no scheme of the document's.
    const bool by_itself = route.access == rest::Access::kAssertion ||
                           route.access == rest::Access::kSignedLink ||
                           route.pattern.starts_with("/dashboard/");
    EXPECT_EQ(open, route.access == rest::Access::kOpen || by_itself) << route.pattern;
    if (open) continue;
    for (const char* status : {"400", "401", "403", "422", "429", "500", "503"}) {
      EXPECT_TRUE(operation["responses"].contains(status)) << route.pattern << " " << status;
    }
  }
}

// Whether the document has a parameter of the query for the operation, there or at its path.
bool HasQuery(const base::Json& document, const Route& route) {
  const base::Json& item = document["paths"][std::string(route.pattern)];
  for (const base::Json& of : {item, item[LowerCase(std::string(route.method))]}) {
    for (base::Json parameter : of.value("parameters", base::Json::array())) {
      if (parameter.contains("$ref")) {
        const auto name = parameter["$ref"].get<std::string>();
        parameter = document["components"]["parameters"][name.substr(name.rfind('/') + 1)];
      }
      if (parameter["in"] == "query") return true;
    }
  }
  return false;
}

TEST(Documents, DescribeParametersOfTheQueryWhereRoutesReadIt) {
  const base::Json document = Document();
  for (const Route& route : Routes()) {
    EXPECT_EQ(HasQuery(document, route), route.query == rest::Query::kRead)
        << route.method << " " << route.pattern;
  }
}

TEST(Documents, AreCompressedForThoseWhoTakeIt) {
  const std::pair<const char*, Coding> cases[] = {
      {"", Coding::kIdentity},
      {"gzip", Coding::kGzip},
      {"br, GZIP;q=0.8", Coding::kGzip},
      {"gzip ; q=0.001", Coding::kGzip},
      {"*", Coding::kGzip},
      {"deflate, br", Coding::kIdentity},
      {"gzip;q=0", Coding::kIdentity},
      {"*, gzip;q=0.000", Coding::kIdentity},
      {"*;q=0, identity", Coding::kIdentity},
      {"gzipped", Coding::kIdentity},
      {",;q=1,", Coding::kIdentity},
  };
  for (const auto& [header, coding] : cases) EXPECT_EQ(CodingFor(header), coding) << header;
  EXPECT_LT(OpenApiJson(Coding::kGzip).size() * 4, OpenApiJson().size());
  EXPECT_LT(DocsHtml(Coding::kGzip).size() * 4, DocsHtml().size());
}

TEST(Documents, AreOpenApi31OfInterfaceVersion100) {
  EXPECT_EQ(Document()["openapi"], "3.1.0");
  EXPECT_EQ(Document()["info"]["version"], "1.0.0");
}

TEST(Documents, DocsNeedNothingFromElsewhere) {
  const std::string html(DocsHtml());
  for (const char* fetching : {"<script src", "<link", "src=", "@import", "url("}) {
    EXPECT_THAT(html, testing::Not(testing::HasSubstr(fetching)));
  }
  for (const Route& route : Routes()) {
    EXPECT_THAT(html, testing::HasSubstr(std::string(route.pattern)));
  }
}

}  // namespace
}  // namespace vedette::api
