#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace vedette::api {

// The file inside a multipart/form-data body, read in pieces that may be cut anywhere (RFC 7578).
// Holds no more than a part's header or a delimiter. Further fields beside the file are passed
// over.
class MultipartReader {
 public:
  // The boundary of a Content-Type; empty where it is not multipart/form-data with a usable one.
  static std::optional<std::string> Boundary(std::string_view content_type);

  explicit MultipartReader(std::string_view boundary);

  // Gives the file's bytes to `sink`. The sentence of what is wrong, or nothing.
  using Sink = std::function<void(std::string_view)>;
  std::optional<std::string> Feed(std::string_view piece, const Sink& sink);
  // The body is over: was it whole, with a file in it?
  std::optional<std::string> Finish() const;
  // What the client calls the file: valid UTF-8, cut to 255 characters. Empty before its header,
  // and of a file that has no name.
  const std::optional<std::string>& filename() const { return filename_; }

 private:
  //   preamble --delimiter--> after delimiter --line end--> header --empty line--> content
  //                                 |  ^                                             |
  //                                 |  +---------------- delimiter ------------------+
  //                                 +--"--"--> epilogue
  enum class State { kPreamble, kAfterDelimiter, kHeader, kContent, kEpilogue };

  bool Step(const Sink& sink);
  bool SkipOrGive(const Sink& sink);
  bool ReadAfterDelimiter();
  bool ReadHeader();

  const std::string delimiter_;  // CRLF "--" boundary
  std::string held_;
  State state_ = State::kPreamble;
  bool has_file_ = false;
  bool in_file_ = false;
  std::optional<std::string> filename_;
  std::optional<std::string> problem_;
};

}  // namespace vedette::api
