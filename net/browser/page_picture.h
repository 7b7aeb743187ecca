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

// Takes one picture of an open page: as a file in WebP, from the top of the page. The outlines are
// drawn by styles of the elements, set from a world of scripts apart from the page's. Nothing is
// called once it is destroyed. Loop thread only.
class PagePicture : public std::enable_shared_from_this<PagePicture> {
 public:
  // `session` and `frame`: of the page.
  PagePicture(BrowserProcess& browser, std::string session, std::string frame)
      : browser_(browser), session_(std::move(session)), frame_(std::move(frame)) {}

  // `done` exactly once, later; empty: there is none.
  void Take(const std::vector<Outlined>& outlined, std::function<void(std::string file)> done);

 private:
  void Ask(std::string_view method, base::Json params,
           std::function<void(const BrowserProcess::Answer& answer)> then);
  void Outline(const base::Json& world, const std::string& script);
  void Measure();
  void Capture(int width, int height);

  BrowserProcess& browser_;
  const std::string session_;
  const std::string frame_;
  std::function<void(std::string file)> done_;
};

}  // namespace vedette::net
