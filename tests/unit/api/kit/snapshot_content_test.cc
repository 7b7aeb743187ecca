#include "api/kit/reply.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/compression.h"
#include "store/monitors/rows.h"

namespace vedette::rest {
namespace {

using store::SnapshotPart;

std::string HeaderOf(const Reply& reply, std::string_view name) {
  for (const auto& [header, value] : reply.headers) {
    if (header == name) return value;
  }
  return "";
}

TEST(SnapshotReply, IsTextOrAPictureWhichNoBrowserRuns) {
  const Reply text = SnapshotReply(base::Compressed("# <script>1</script>"), SnapshotPart::kText);
  EXPECT_EQ(text.status, 200);
  EXPECT_EQ(text.body, "# <script>1</script>");
  EXPECT_EQ(HeaderOf(text, "Content-Type"), "text/plain; charset=utf-8");
  const Reply picture = SnapshotReply("RIFF", SnapshotPart::kPicture);
  EXPECT_EQ(picture.body, "RIFF");
  EXPECT_EQ(HeaderOf(picture, "Content-Type"), "image/webp");
  for (const Reply& reply : {text, picture}) {
    EXPECT_EQ(HeaderOf(reply, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(HeaderOf(reply, "Content-Security-Policy"), "sandbox; default-src 'none'");
  }
}

TEST(SnapshotReply, RefusesWhatThereIsNot) {
  try {
    SnapshotReply(std::nullopt, SnapshotPart::kPicture);
    FAIL() << "nothing was refused";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.reply().status, 404);
  }
}

TEST(SnapshotReply, IsNothingElseThanWhatWasWritten) {
  EXPECT_THROW(SnapshotReply("no text", SnapshotPart::kText), std::runtime_error);
}

}  // namespace
}  // namespace vedette::rest
