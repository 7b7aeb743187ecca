#include "html/charset.h"

#include <iconv.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/text.h"

namespace vedette::html {
namespace {

constexpr std::size_t kSniffedBytes = 4096;
constexpr std::string_view kUtf8 = "UTF-8";
constexpr std::string_view kWindows1252 = "CP1252";

// Labels as the WHATWG's Encoding standard reads them (latin1 is windows-1252 on the web), and
// iconv's names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 74> kLabels{{
    {"utf-8", kUtf8},
    {"utf8", kUtf8},
    {"unicode-1-1-utf-8", kUtf8},
    {"ascii", kWindows1252},
    {"us-ascii", kWindows1252},
    {"iso-8859-1", kWindows1252},
    {"iso8859-1", kWindows1252},
    {"iso_8859-1", kWindows1252},
    {"latin1", kWindows1252},
    {"l1", kWindows1252},
    {"cp1252", kWindows1252},
    {"x-cp1252", kWindows1252},
    {"windows-1252", kWindows1252},
    {"iso-8859-2", "ISO-8859-2"},
    {"latin2", "ISO-8859-2"},
    {"iso-8859-3", "ISO-8859-3"},
    {"iso-8859-4", "ISO-8859-4"},
    {"iso-8859-5", "ISO-8859-5"},
    {"iso-8859-6", "ISO-8859-6"},
    {"iso-8859-7", "ISO-8859-7"},
    {"iso-8859-8", "ISO-8859-8"},
    {"iso-8859-8-i", "ISO-8859-8"},
    {"iso-8859-9", "CP1254"},
    {"latin5", "CP1254"},
    {"iso-8859-10", "ISO-8859-10"},
    {"iso-8859-11", "CP874"},
    {"tis-620", "CP874"},
    {"windows-874", "CP874"},
    {"iso-8859-13", "ISO-8859-13"},
    {"iso-8859-14", "ISO-8859-14"},
    {"iso-8859-15", "ISO-8859-15"},
    {"latin9", "ISO-8859-15"},
    {"iso-8859-16", "ISO-8859-16"},
    {"windows-1250", "CP1250"},
    {"cp1250", "CP1250"},
    {"windows-1251", "CP1251"},
    {"cp1251", "CP1251"},
    {"windows-1253", "CP1253"},
    {"windows-1254", "CP1254"},
    {"windows-1255", "CP1255"},
    {"windows-1256", "CP1256"},
    {"windows-1257", "CP1257"},
    {"windows-1258", "CP1258"},
    {"koi8-r", "KOI8-R"},
    {"koi8", "KOI8-R"},
    {"koi8-u", "KOI8-U"},
    {"ibm866", "CP866"},
    {"cp866", "CP866"},
    {"macintosh", "MACINTOSH"},
    {"gbk", "GB18030"},
    {"x-gbk", "GB18030"},
    {"gb2312", "GB18030"},
    {"gb_2312-80", "GB18030"},
    {"gb18030", "GB18030"},
    {"big5", "BIG5-HKSCS"},
    {"big5-hkscs", "BIG5-HKSCS"},
    {"x-x-big5", "BIG5-HKSCS"},
    {"euc-jp", "EUC-JP"},
    {"x-euc-jp", "EUC-JP"},
    {"iso-2022-jp", "ISO-2022-JP"},
    {"shift_jis", "CP932"},
    {"shift-jis", "CP932"},
    {"sjis", "CP932"},
    {"x-sjis", "CP932"},
    {"ms_kanji", "CP932"},
    {"windows-31j", "CP932"},
    {"euc-kr", "CP949"},
    {"ks_c_5601-1987", "CP949"},
    {"korean", "CP949"},
    {"windows-949", "CP949"},
    {"utf-16", "UTF-16LE"},
    {"utf-16le", "UTF-16LE"},
    {"utf-16be", "UTF-16BE"},
    {"iso-10646-ucs-2", "UTF-16LE"},
}};

std::string_view IconvName(std::string_view label) {
  for (const auto& [known, name] : kLabels) {
    if (known == label) return name;
  }
  return {};
}

bool IsSpace(char c) {
  return base::IsSpace(c, base::kMarkupSpace);
}

// The value behind "charset=" in `text` (lower case), without quotes; empty where there is none.
std::string CharsetParameter(std::string_view text) {
  constexpr std::string_view kName = "charset";
  for (auto at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at)) {
    at += kName.size();
    std::size_t i = at;
    while (i < text.size() && IsSpace(text[i])) ++i;
    if (i >= text.size() || text[i] != '=') continue;
    ++i;
    while (i < text.size() && (IsSpace(text[i]) || text[i] == '"' || text[i] == '\'')) ++i;
    const std::size_t end = std::min(text.find_first_of(" \t\r\n\f\"';,/>", i), text.size());
    return std::string(text.substr(i, end - i));
  }
  return {};
}

std::string MetaCharset(std::string_view body) {
  const std::string head = base::AsciiLower(body.substr(0, kSniffedBytes));
  constexpr std::string_view kMeta = "<meta";
  for (auto at = head.find(kMeta); at != std::string::npos; at = head.find(kMeta, at)) {
    at += kMeta.size();
    const std::string_view tag = std::string_view(head).substr(at, head.find('>', at) - at);
    std::string charset = CharsetParameter(tag);
    // A page whose ASCII <meta> could be read is not in UTF-16, whatever it says.
    if (charset.starts_with("utf-16")) return "utf-8";
    if (!IconvName(charset).empty()) return charset;
  }
  return {};
}

std::string Convert(std::string_view body, std::string_view encoding) {
  if (encoding == kUtf8) return base::RepairUtf8(body);
  const iconv_t converter = iconv_open("UTF-8", std::string(encoding).c_str());
  if (converter == reinterpret_cast<iconv_t>(-1)) return base::RepairUtf8(body);
  std::string out;
  std::array<char, 16384> buffer;
  char* in = const_cast<char*>(body.data());  // iconv's signature; it does not write there
  std::size_t in_left = body.size();
  // Some encodings hold a letter back, as a mark that follows may be put on it.
  const auto flush = [&] {
    char* to = buffer.data();
    std::size_t to_left = buffer.size();
    iconv(converter, nullptr, nullptr, &to, &to_left);
    out.append(buffer.data(), buffer.size() - to_left);
  };
  while (in_left > 0) {
    char* to = buffer.data();
    std::size_t to_left = buffer.size();
    const bool failed =
        iconv(converter, &in, &in_left, &to, &to_left) == static_cast<std::size_t>(-1);
    out.append(buffer.data(), buffer.size() - to_left);
    if (!failed || errno == E2BIG) continue;
    // A bad or cut sequence: one character lost, and on.
    flush();
    base::AppendUtf8(0xFFFD, &out);
    ++in;
    --in_left;
  }
  flush();
  iconv_close(converter);
  return base::RepairUtf8(out);
}

}  // namespace

MediaType ParseMediaType(std::string_view content_type) {
  const std::string lower = base::AsciiLower(content_type);
  const auto semicolon = lower.find(';');
  MediaType out{std::string(base::Trim(std::string_view(lower).substr(0, semicolon))), {}};
  if (semicolon != std::string::npos) {
    out.charset = CharsetParameter(std::string_view(lower).substr(semicolon));
  }
  return out;
}

std::string DecodeBody(std::string_view body, std::string_view header_charset) {
  if (body.starts_with(base::kByteOrderMark)) {
    return base::RepairUtf8(body.substr(base::kByteOrderMark.size()));
  }
  if (body.starts_with("\xFE\xFF")) return Convert(body.substr(2), "UTF-16BE");
  if (body.starts_with("\xFF\xFE")) return Convert(body.substr(2), "UTF-16LE");
  std::string_view encoding = IconvName(base::AsciiLower(base::Trim(header_charset)));
  if (encoding.empty()) encoding = IconvName(MetaCharset(body));
  if (encoding.empty()) encoding = base::IsValidUtf8(body) ? kUtf8 : kWindows1252;
  return Convert(body, encoding);
}

}  // namespace vedette::html
