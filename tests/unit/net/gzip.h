#pragma once

#include <zlib.h>

#include <string>

namespace vedette::net::test {

// Compressed, in the format that zlib means by its window bits: negative for bare deflate.
inline std::string Deflated(const std::string& text, int window_bits) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

inline std::string Gzip(const std::string& text) {
  return Deflated(text, 15 + 16);
}

}  // namespace vedette::net::test
