#include "base/compression.h"

#include <zlib.h>

#include <stdexcept>

namespace vedette::base {

std::string Compressed(std::string_view text, Effort effort) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                             reinterpret_cast<const Bytef*>(text.data()), text.size(),
                             effort == Effort::kLittle ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION);
  if (code != Z_OK) throw std::runtime_error("a text could not be compressed");
  out.resize(size);
  return out;
}

std::optional<std::string> Decompressed(std::string_view compressed, std::size_t bytes_max) {
  std::string out(bytes_max, '\0');
  uLongf size = out.size();
  const int code = uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                              reinterpret_cast<const Bytef*>(compressed.data()), compressed.size());
  if (code != Z_OK) return std::nullopt;
  out.resize(size);
  return out;
}

}  // namespace vedette::base
