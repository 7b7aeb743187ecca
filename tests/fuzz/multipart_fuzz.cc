// The same file and the same problem whatever pieces the form comes in.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/tenant/monitors/multipart.h"

namespace {

std::string Read(std::string_view text, std::size_t piece_bytes) {
  std::string file;
  std::optional<std::string> problem;
  vedette::api::MultipartReader reader("XX");
  for (std::size_t at = 0; at < text.size() && !problem; at += piece_bytes) {
    problem = reader.Feed(text.substr(at, piece_bytes),
                          [&file](std::string_view bytes) { file.append(bytes); });
  }
  if (!problem) problem = reader.Finish();
  // How much came before a problem depends on the pieces.
  return problem ? "problem" : file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  vedette::api::MultipartReader::Boundary(text);
  const std::string whole = Read(text, size + 1);
  if (Read(text, 1) != whole || Read(text, 5) != whole) std::abort();
  return 0;
}
