// The same file and the same problem whatever pieces the form comes in.
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/tenant/monitors/multipart.h"
#include "tests/fuzz/target.h"

namespace vedette {
namespace {

std::string Read(std::string_view text, std::size_t piece_bytes) {
  std::string file;
  std::optional<std::string> problem;
  api::MultipartReader reader("XX");
  for (std::size_t at = 0; at < text.size() && !problem; at += piece_bytes) {
    problem = reader.Feed(text.substr(at, piece_bytes),
                          [&file](std::string_view bytes) { file.append(bytes); });
  }
  if (!problem) problem = reader.Finish();
  // How much came before a problem depends on the pieces.
  return problem ? "problem" : file;
}

}  // namespace

FUZZ_TARGET(multipart, text) {
  api::MultipartReader::Boundary(text);
  const std::string whole = Read(text, text.size() + 1);
  if (Read(text, 1) != whole || Read(text, 5) != whole) std::abort();
}

}  // namespace vedette
