#include "api/kit/answer.h"

#include <gtest/gtest.h>

#include "base/uuid.h"

namespace vedette::rest {
namespace {

std::string IdFor(const std::string& given) {
  net::ServerRequest request;
  request.headers = {{"x-request-id", given}};
  return net::RequestIdOf(request);
}

TEST(RequestId, IsTheClientsOwnWhereThatIsSane) {
  for (const std::string& id :
       {std::string("a"), std::string("A-b_c.d:1"), std::string(128, 'x')}) {
    EXPECT_EQ(IdFor(id), id);
  }
}

TEST(RequestId, IsAFreshUuidOtherwise) {
  for (const std::string& id : {std::string(), std::string(129, 'x'), std::string("a b"),
                                std::string("a\tb"), std::string("\xc3\xa4"), std::string("\"")}) {
    EXPECT_TRUE(base::Uuid::Parse(IdFor(id))) << id;
  }
  EXPECT_NE(IdFor(""), IdFor(""));
}

}  // namespace
}  // namespace vedette::rest
