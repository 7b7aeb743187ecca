#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "html/charset.h"
#include "html/html_document.h"

namespace vedette::html {

// What was fetched.
struct FetchedPage {
  std::string body;          // as sent, without its content coding
  std::string content_type;  // the header; may be empty
  std::string url;           // the last one, after redirects
  bool rendered = false;     // its scripts have run, and `body` is what they made
  bool of_pdf = false;       // `body` is the text of a PDF, as text/plain
};

// A page in the forms that its readers ask for, each made at most once: its text, its tree of
// HTML or XML, its JSON value. Making one may take seconds, so it belongs to a thread of a pool.
// One thread. The pointers are valid as long as this object is.
class PageForms {
 public:
  explicit PageForms(const FetchedPage& page);

  const MediaType& type() const { return type_; }
  bool IsJson() const;
  // Whether the page is read as XML: by its type (XHTML is read as HTML), or a feed by its first
  // element, whatever its type.
  bool IsXml() const;
  bool IsOfPdf() const { return of_pdf_; }
  // Whether the type says that the page is text without markup: CSV, Markdown, a calendar.
  bool IsPlain() const;
  // Whether the page is read as HTML: what is not said to be anything else is.
  bool IsHtml() const { return !of_pdf_ && !IsJson() && !IsXml(); }
  // Whether the type says that the page is no text: an image, a PDF, an archive.
  bool IsBinary() const;

  // The body as valid UTF-8 without NUL.
  const std::string& text() const { return text_; }

  // Null where the page cannot be parsed so; html_error() is then a phrase that says why.
  const HtmlDocument* Html();
  const std::string& html_error() const { return html_error_; }

  // Null where the page is no JSON, or more of it than is read; json_error() then says why.
  const base::Json* Json();
  const std::string& json_error() const { return json_error_; }

  // The text that a reader sees, folded: of HTML without what is hidden, of JSON and plain text all
  // of it. With kLines or kMarkdown each block, or line of plain text, is on a line of its own.
  // Empty where the page cannot be parsed as HTML, see html_error().
  std::optional<std::string> VisibleText(TextView view = TextView::kVisible);

 private:
  MediaType type_;
  std::string text_;
  bool of_pdf_ = false;
  std::optional<std::unique_ptr<HtmlDocument>> html_;  // null: it cannot be parsed
  std::string html_error_;
  std::optional<base::Json> json_;
  std::string json_error_;
};

}  // namespace vedette::html
