#include "html/css_syntax.h"

#include <gtest/gtest.h>

namespace vedette::html {
namespace {

// The tokens as "<kind><text>@<position>", apart by a bar; an error as "error@<position>".
std::string Tokens(std::string_view source) {
  std::vector<CssToken> tokens;
  if (const auto error = TokenizeCss(source, &tokens)) {
    EXPECT_EQ(error->message, "the string is not closed");
    return "error@" + std::to_string(error->position);
  }
  std::string out;
  for (const CssToken& token : tokens) {
    constexpr std::string_view kKinds = "_i#snd$";
    out += (out.empty() ? "" : "|") + std::string(1, kKinds[static_cast<std::size_t>(token.kind)]) +
           token.text + "@" + std::to_string(token.position);
  }
  return out;
}

TEST(CssTokens, AreOfTheirKindsAndEndWithTheEnd) {
  EXPECT_EQ(Tokens(""), "$@1");
  EXPECT_EQ(Tokens("a.b #c"), "ia@1|d.@2|ib@3|_@4|#c@5|$@7");
  EXPECT_EQ(Tokens("a>[b='c']"), "ia@1|d>@2|d[@3|ib@4|d=@5|sc@6|d]@9|$@10");
  EXPECT_EQ(Tokens("a:nth-child(2n+1)"),
            "ia@1|d:@2|inth-child@3|d(@12|n2@13|in@14|n+1@15|d)@17|$@18");
  EXPECT_EQ(Tokens("a , *"), "ia@1|_@2|d,@3|_@4|d*@5|$@6");
}

TEST(CssTokens, WhiteSpaceIsOneTokenWhateverItIsMadeOf) {
  EXPECT_EQ(Tokens("a \t\r\n\f b"), "ia@1|_@2|ib@8|$@9");
  EXPECT_EQ(Tokens("a\vb"), "ia@1|d\v@2|ib@3|$@4") << "a vertical tab is none in CSS";
}

TEST(CssTokens, CommentsVanish) {
  EXPECT_EQ(Tokens("a/* > b */c"), "ia@1|ic@11|$@12");
  EXPECT_EQ(Tokens("/**/a/* not closed"), "ia@5|$@19");
  EXPECT_EQ(Tokens("'/*'"), "s/*@1|$@5") << "not in a string";
}

TEST(CssTokens, NamesBeginWithALetterPerhapsBehindOneHyphen) {
  EXPECT_EQ(Tokens("-a_1-"), "i-a_1-@1|$@6");
  EXPECT_EQ(Tokens("--a"), "d-@1|i-a@2|$@4");
  EXPECT_EQ(Tokens("1a"), "n1@1|ia@2|$@3");
  EXPECT_EQ(Tokens("#1a"), "#1a@1|$@4") << "a hash may begin with a digit";
  EXPECT_EQ(Tokens("# a"), "d#@1|_@2|ia@3|$@4");
}

TEST(CssTokens, NumbersHaveASignAndDecimals) {
  EXPECT_EQ(Tokens("+1.5"), "n+1.5@1|$@5");
  EXPECT_EQ(Tokens("-.5"), "n-.5@1|$@4");
  EXPECT_EQ(Tokens("1."), "n1@1|d.@2|$@3");
  EXPECT_EQ(Tokens("+"), "d+@1|$@2");
  EXPECT_EQ(Tokens("-n"), "i-n@1|$@3");
}

TEST(CssTokens, EscapesStandForTheirCharacter) {
  EXPECT_EQ(Tokens(R"(\31 a)"), "i1a@1|$@6") << "one white space ends the digits";
  EXPECT_EQ(Tokens(R"(\0000312)"), "i12@1|$@9") << "six digits at most";
  EXPECT_EQ(Tokens(R"(a\.b)"), "ia.b@1|$@5");
  EXPECT_EQ(Tokens(R"(#a\:b)"), "#a:b@1|$@6");
  EXPECT_EQ(Tokens(R"("a\"b")"), "sa\"b@1|$@7");
  EXPECT_EQ(Tokens(R"(\e4)"), "i\xC3\xA4@1|$@4");
  EXPECT_EQ(Tokens("\\31\r\na"), "i1a@1|$@7") << "a line's end of two bytes is one";
}

TEST(CssTokens, EscapesOfNoCharacterAreTheReplacementCharacter) {
  for (const char* none : {R"(\0)", R"(\d800)", R"(\110000)"}) {
    EXPECT_EQ(Tokens(none).substr(0, 4), "i\xEF\xBF\xBD") << none;
  }
}

TEST(CssTokens, ABackslashAtTheEndEscapesNothing) {
  EXPECT_EQ(Tokens("a\\"), "ia@1|d\\@2|$@3");
  EXPECT_EQ(Tokens("a\\\nb"), "ia@1|d\\@2|_@3|ib@4|$@5") << "nor does one before a line's end";
}

TEST(CssTokens, AStringGoesOnBehindAnEscapedLineEnd) {
  EXPECT_EQ(Tokens("'a\\\nb'"), "sab@1|$@7");
  EXPECT_EQ(Tokens("'a\\\r\nb'"), "sab@1|$@8");
  EXPECT_EQ(Tokens("''"), "s@1|$@3");
  EXPECT_EQ(Tokens("'\"'"), "s\"@1|$@4") << "the other quotation mark is text";
}

TEST(CssTokens, OnlyAStringThatIsNotClosedIsAnError) {
  EXPECT_EQ(Tokens("a 'b"), "error@3");
  EXPECT_EQ(Tokens("a \"b'"), "error@3");
  EXPECT_EQ(Tokens("'a\nb'"), "error@1") << "it ends with its line";
  EXPECT_EQ(Tokens("'a\\"), "error@1");
  EXPECT_EQ(Tokens(")]}{%!"), "d)@1|d]@2|d}@3|d{@4|d%@5|d!@6|$@7");
}

TEST(CssTokens, PositionsCountCharacters) {
  EXPECT_EQ(Tokens("\xC3\xA4\xC3\xB6 \xE2\x82\xAC b"),
            "i\xC3\xA4\xC3\xB6@1|_@3|i\xE2\x82\xAC@4|_@5|ib@6|$@7");
  EXPECT_EQ(Tokens("\xC3\xA9 'x"), "error@3");
}

}  // namespace
}  // namespace vedette::html
