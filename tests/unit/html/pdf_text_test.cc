#include "html/pdf_text.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace vedette::html {
namespace {

using std::chrono::milliseconds;

// A PDF of these objects, numbered from 1; the first is its catalogue. `more`: of its trailer.
std::string Pdf(const std::vector<std::string>& objects, const std::string& more = "") {
  std::string out = "%PDF-1.4\n";
  std::string table = fmt::format("xref\n0 {}\n0000000000 65535 f \n", objects.size() + 1);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    table += fmt::format("{:010} 00000 n \n", out.size());
    out += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
  }
  const std::size_t at = out.size();
  return out + table +
         fmt::format("trailer\n<< /Size {} /Root 1 0 R {} >>\nstartxref\n{}\n%%EOF\n",
                     objects.size() + 1, more, at);
}

std::string Stream(const std::string& fields, const std::string& content) {
  return fmt::format("<< {} /Length {} >>\nstream\n{}\nendstream", fields, content.size(), content);
}

// A page that shows `content`; `resources` stand beside its font, /F.
std::vector<std::string> OnePage(const std::string& content, const std::string& resources = "") {
  return {"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
          fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
                      "/Resources << /Font << /F 5 0 R >> {} >> >>",
                      resources),
          Stream("", content), "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"};
}

std::string Price(const std::string& more = "") {
  return Pdf(OnePage("BT /F 12 Tf 72 700 Td (Price list) Tj 0 -40 Td (Tea 12.50 <script>) Tj ET"),
             more);
}

// Forms that show each other: each level ten times the one below. The lowest shows `content`.
std::string Bomb(const std::string& content) {
  auto objects = OnePage("/X6 Do", "/XObject << /X6 6 0 R >>");
  constexpr int kLast = 25;
  for (int i = 6; i < kLast; ++i) {
    const std::string below = fmt::format("/X{} Do ", i + 1);
    std::string ten;
    for (int n = 0; n < 10; ++n) ten += below;
    objects.push_back(Stream(fmt::format("/Type /XObject /Subtype /Form /BBox [0 0 612 792] "
                                         "/Resources << /XObject << /X{} {} 0 R >> >>",
                                         i + 1, i + 1),
                             ten));
  }
  objects.push_back(
      Stream("/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources "
             "<< /Font << /F 5 0 R >> >>",
             content));
  return Pdf(objects);
}

struct Said {
  std::string text;
  std::string error_class;
  std::string message;
};

Said Read(const std::string& pdf, const PdfLimits& limits = {},
          const std::vector<std::string>& reader = kPdfReader) {
  auto result = TextOfPdf(
      pdf, [] { return false; }, limits, reader);
  if (auto* text = std::get_if<std::string>(&result)) return {std::move(*text), {}, {}};
  auto& failure = std::get<domain::Failure>(result);
  return {{}, failure.error_class, failure.message};
}

bool Says(const Said& said, std::string_view phrase) {
  return said.message.find(phrase) != std::string::npos;
}

TEST(PdfText, TheTextOfAPdfIsReadLineByLine) {
  const Said said = Read(Price());
  EXPECT_EQ(said.message, "");
  EXPECT_EQ(said.text, "Price list\nTea 12.50 <script>\n\n");
}

TEST(PdfText, AnEncryptedPdfSaysThatItNeedsAPassword) {
  const std::string key(64, 'A');
  const Said said = Read(Price(fmt::format(
      "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{}> /U <{}> >> /ID [<{}> <{}>]", key, key,
      key, key)));
  EXPECT_EQ(said.error_class, "bad_content");
  EXPECT_TRUE(Says(said, "password")) << said.message;
}

TEST(PdfText, WhatIsNoPdfOrDamagedSaysSo) {
  for (const std::string& pdf : {std::string(), std::string("<html>"), std::string("%PDF-1.4\n")}) {
    const Said said = Read(pdf);
    EXPECT_EQ(said.error_class, "bad_content") << pdf;
    EXPECT_TRUE(Says(said, "damaged")) << said.message;
  }
}

TEST(PdfText, G11ABombIsEndedAtItsLimits) {
  PdfLimits limits;
  limits.cpu = std::chrono::seconds(1);
  const Said silent = Read(Bomb("q Q"), limits);
  EXPECT_EQ(silent.error_class, "bad_content");
  EXPECT_TRUE(Says(silent, "more time or memory")) << silent.message;
  limits.cpu = std::chrono::seconds(20);
  limits.wall = milliseconds(500);
  EXPECT_EQ(Read(Bomb("q Q"), limits).error_class, "overloaded") << "the machine's time is over";
  const Said loud = Read(Price(), {10});
  EXPECT_EQ(loud.error_class, "body_too_large");
  EXPECT_TRUE(Says(loud, "more than 10 bytes")) << loud.message;
}

TEST(PdfText, G11AReaderThatEndsNeverOrSaysTooMuchIsEnded) {
  PdfLimits limits;
  limits.wall = milliseconds(300);
  EXPECT_EQ(Read("", limits, {"/bin/sh", "-c", "while :; do :; done"}).error_class, "overloaded");
  EXPECT_TRUE(Says(Read("", limits, {"/bin/sh", "-c", "exec >&-; exec sleep 100"}), "more time"));
  EXPECT_EQ(Read("", {1 << 20}, {"/usr/bin/yes"}).error_class, "body_too_large");
  const std::string large = "a = bytearray(1 << 30); print(len(a))";
  EXPECT_TRUE(Says(Read("", {}, {"/usr/bin/python3", "-ISc", large}), "more time or memory") ||
              Says(Read("", {}, {"/usr/bin/python3", "-ISc", large}), "damaged"));
}

TEST(PdfText, AStoppedReadingEndsItsProcess) {
  int asked = 0;
  const auto stopped = [&] { return ++asked == 3; };
  const auto result = TextOfPdf("", stopped, {}, {"/bin/sh", "-c", "while :; do :; done"});
  EXPECT_EQ(std::get<domain::Failure>(result).error_class, "overloaded");
}

TEST(PdfText, WithoutAReaderTheFailureSaysWhatToInstall) {
  const Said said = Read(Price(), {}, {"/nonexistent/pdftotext", "-"});
  EXPECT_EQ(said.error_class, "bad_content");
  EXPECT_TRUE(Says(said, "poppler-utils")) << said.message;
  EXPECT_TRUE(Says(said, "application/pdf")) << said.message;
}

// A hostile PDF that runs code of its own reaches nobody.
TEST(PdfText, G9TheReaderReachesNoNetworkNoOtherProcessAndWritesNothing) {
  const std::string script = R"(
import os, socket
def tried(name, f):
    try:
        f(); print(name, 'done')
    except OSError: print(name, 'refused')
tried('socket', lambda: socket.socket())
tried('unix', lambda: socket.socketpair())
tried('fork', os.fork)
tried('signal', lambda: os.kill(os.getppid(), 0))
tried('write', lambda: os.write(os.open('/tmp/vedette-pdf-test', os.O_CREAT | os.O_WRONLY), b'a'))
tried('read', lambda: open('/etc/passwd').read())
print('root', os.geteuid() == 0, 'files', len(os.listdir('/usr')) > 0, 'environment', sorted(os.environ))
)";
  // Kernels without Landlock leave what everybody may read.
  const bool fenced = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) > 0;
  EXPECT_EQ(Read("", {}, {"/usr/bin/python3", "-ISc", script}).text,
            fmt::format("socket refused\nunix refused\nfork refused\nsignal refused\n"
                        "write refused\nread {}\n"
                        "root False files True environment ['LANG']\n",
                        fenced ? "refused" : "done"));
}

}  // namespace
}  // namespace vedette::html
