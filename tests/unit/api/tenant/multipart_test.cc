#include "api/tenant/monitors/multipart.h"

#include <gtest/gtest.h>

namespace vedette::api {
namespace {

struct Read {
  std::string file;
  std::optional<std::string> filename;
  std::optional<std::string> problem;
};

Read ReadForm(std::string_view body, std::size_t piece_bytes = 1 << 20) {
  Read out;
  MultipartReader reader("XX");
  for (std::size_t at = 0; at < body.size() && !out.problem; at += piece_bytes) {
    out.problem = reader.Feed(body.substr(at, piece_bytes),
                              [&out](std::string_view bytes) { out.file.append(bytes); });
  }
  if (!out.problem) out.problem = reader.Finish();
  out.filename = reader.filename();
  return out;
}

const std::string kFile = "Content-Disposition: form-data; name=\"f\"; filename=\"a.csv\"\r\n";

TEST(Multipart, ReadsTheBoundary) {
  EXPECT_EQ(MultipartReader::Boundary("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(MultipartReader::Boundary("Multipart/Form-Data; charset=x; Boundary=\"a b\""), "a b");
  EXPECT_FALSE(MultipartReader::Boundary("multipart/form-data"));
  EXPECT_FALSE(MultipartReader::Boundary("multipart/form-data; boundary="));
  EXPECT_FALSE(MultipartReader::Boundary("multipart/form-data; xboundary=a"));
  EXPECT_FALSE(MultipartReader::Boundary("multipart/mixed; boundary=a"));
  EXPECT_FALSE(MultipartReader::Boundary("multipart/form-data; boundary=" + std::string(71, 'a')));
}

TEST(Multipart, GivesTheFileWhateverThePieces) {
  const std::string body =
      "--XX\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nno\r\n--XX\r\n" + kFile +
      "Content-Type: text/csv\r\n\r\na,b\r\n--X,\r\n--X\r\n\r\n--XX--\r\n";
  for (std::size_t piece = 1; piece < body.size(); ++piece) {
    const Read read = ReadForm(body, piece);
    EXPECT_FALSE(read.problem) << *read.problem << piece;
    EXPECT_EQ(read.file, "a,b\r\n--X,\r\n--X\r\n") << piece;
    EXPECT_EQ(read.filename, "a.csv") << piece;
  }
}

TEST(Multipart, TellsWhatTheFileIsCalled) {
  const auto name_of = [](const std::string& parameters) {
    return ReadForm("--XX\r\nContent-Disposition: form-data; name=file" + parameters +
                    "\r\n\r\nx\r\n--XX--")
        .filename;
  };
  EXPECT_EQ(name_of("; filename=leads.csv"), "leads.csv");
  EXPECT_EQ(name_of("; filename=\"Ärzte; 2026.csv\""), "Ärzte; 2026.csv");
  EXPECT_EQ(name_of("; filename=\"é\\\"q.csv\""), "é\"q.csv");
  EXPECT_EQ(name_of("; filename=\"q\\\\\""), "q\\");
  EXPECT_EQ(name_of("; filename=\"C:\\new\\q.csv\""), "C:\\new\\q.csv");
  EXPECT_EQ(name_of("; x=\"; filename=a.csv\"; filename=b.csv"), "b.csv");
  EXPECT_EQ(name_of("; filename=\"\""), std::nullopt);
  EXPECT_EQ(name_of(""), std::nullopt);
  EXPECT_EQ(name_of("; filename=\"" + std::string(300, 'x') + "\""), std::string(252, 'x') + "...");
  EXPECT_EQ(name_of("; filename=\"a\xff.csv\""), "a\xEF\xBF\xBD.csv") << "it is valid UTF-8";
}

TEST(Multipart, TakesTheFieldNamedFile) {
  EXPECT_EQ(ReadForm("--XX\r\nContent-Disposition: form-data; name=file\r\n\r\nx\r\n--XX--").file,
            "x");
}

TEST(Multipart, AnEmptyFileIsEmpty) {
  const Read read = ReadForm("--XX\r\n" + kFile + "\r\n\r\n--XX--\r\n", 1);
  EXPECT_FALSE(read.problem);
  EXPECT_EQ(read.file, "");
}

TEST(Multipart, SaysWhatIsWrong) {
  for (const std::string& bad :
       {std::string(), std::string("nothing"), "--XX\r\n" + kFile + "\r\nabc",
        "--XX\r\n" + kFile + "\r\nabc\r\n--XX", std::string("--XX--"),
        "--XX\r\n" + kFile + "\r\na\r\n--XX\r\n" + kFile + "\r\nb\r\n--XX--",
        "--XXY\r\n" + kFile + "\r\na\r\n--XX--",
        "--XX\r\n" + std::string(20000, 'h') + "\r\n\r\na\r\n--XX--"}) {
    EXPECT_TRUE(ReadForm(bad).problem) << bad.substr(0, 100);
  }
}

}  // namespace
}  // namespace vedette::api
