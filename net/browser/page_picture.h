#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "net/browser/browser_process.h"

namespace vedette::net {

// The most of a page that is in its picture, and what the picture may take; a larger one is taken
// again, of half as much of the page.
inline constexpr int kPictureWidthMax = 1280;
inline constexpr int kPictureHeightMax = 8000;
inline constexpr std::size_t kPictureBytesMax = 512 << 10;

// An element that has an outline in the picture: the first that a CSS selector or an XPath
// expression matches in the main document. What matches nothing, or is none, is passed over.
struct Outlined {
  bool is_xpath = false;
  std::string selector;
};

// The most elements that are listed with a picture, and the characters of the selector of one.
inline constexpr int kPictureElementsMax = 800;
inline constexpr int kElementSelectorCharsMax = 300;

struct PictureOrder {
  std::vector<Outlined> outlined{};
  bool lists_elements = false;
};
struct Picture {
  std::string file{};  // in WebP; empty: there is none
  // Elements, if they are to be listed: a JSON array of what can be seen in the main document, in
  // document order, as [x, y, width, height, CSS selector that matches it alone, beginning of its
  // text].
  std::string elements{};
};

// Takes one picture of an open page: as a file in WebP, from the top of the page. The outlines are
// drawn by styles of the elements, set from a world of scripts apart from the page's. So is what is
// secret made invisible first: in fields and texts of the document, its open shadow roots and
// frames of its origin; frames of others are hidden. Where that fails there is no picture. Nothing
// is called once it is destroyed. Loop thread only.
class PagePicture : public std::enable_shared_from_this<PagePicture> {
 public:
  // `session` and `frame`: of the page. `secrets`: what was typed there and must not be seen.
  PagePicture(BrowserProcess& browser, std::string session, std::string frame,
              std::vector<std::string> secrets)
      : browser_(browser),
        session_(std::move(session)),
        frame_(std::move(frame)),
        secrets_(std::move(secrets)) {}

  // `done` exactly once, later.
  void Take(PictureOrder order, std::function<void(Picture picture)> done);

 private:
  void Ask(std::string_view method, base::Json params,
           std::function<void(const BrowserProcess::Answer& answer)> then);
  void Blank(const base::Json& world, const std::string& outlines);
  void Outline(const base::Json& world, const std::string& script);
  void ListElements(const base::Json& world);
  void Measure();
  void Capture(int width, int height);

  BrowserProcess& browser_;
  const std::string session_;
  const std::string frame_;
  const std::vector<std::string> secrets_;
  PictureOrder order_;
  std::string elements_;
  std::function<void(Picture picture)> done_;
};

}  // namespace vedette::net
