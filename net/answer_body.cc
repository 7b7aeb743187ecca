#include "net/answer_body.h"

#include <algorithm>
#include <array>
#include <utility>

namespace vedette::net {

namespace {

constexpr std::size_t kFirstStepBytes = 16 * 1024;
constexpr std::size_t kInflateBytes = 16 * 1024;

}  // namespace

void AnswerBody::Begin(const Limits& limits, const Facts& facts, std::function<void()> granted) {
  Reset();
  limits_ = limits;
  granted_ = std::move(granted);
  state_ = State::kReading;
  if (facts.coding.empty() || facts.coding == "identity") {
    length_ = facts.length;
  } else if (facts.coding == "gzip" || facts.coding == "x-gzip") {
    coding_ = Coding::kGzip;
  } else if (facts.coding == "deflate") {
    coding_ = Coding::kDeflate;
  } else {
    state_ = Unreadable();
  }
  if (limits_.budget == nullptr) {
    taken_ = limits_.bytes_max;
  }
}

AnswerBody::State AnswerBody::Feed(std::string_view data) {
  if (state_ == State::kReading) {
    state_ = coding_ == Coding::kIdentity ? Copy(data) : Inflate(data);
    if (state_ == State::kBroken) state_ = Unreadable();
  }
  return state_;
}

AnswerBody::State AnswerBody::End() {
  const bool whole =
      coding_ == Coding::kIdentity || coding_ == Coding::kMemberEnded || coding_ == Coding::kEnded;
  if (state_ == State::kReading && !whole) state_ = Unreadable();
  return state_;
}

AnswerBody::State AnswerBody::Copy(std::string_view data) {
  std::size_t at = std::exchange(skip_, 0);
  while (at < data.size()) {
    if (room() == 0) {
      if (text_.size() == limits_.bytes_max) {
        return limits_.truncate ? State::kCut : State::kTooLong;
      }
      if (!Grow()) {
        skip_ = at;
        return State::kWaiting;
      }
    }
    const std::size_t n = std::min(room(), data.size() - at);
    text_.append(data.substr(at, n));
    at += n;
  }
  return AtLimit();
}

// A body that is to be cut is complete at the limit, though more may be sent, unless its declared
// length says that it ends exactly there.
AnswerBody::State AnswerBody::AtLimit() {
  const bool full = text_.size() == limits_.bytes_max;
  const bool ends = length_ >= 0 && static_cast<std::uint64_t>(length_) == limits_.bytes_max;
  return full && limits_.truncate && !ends ? State::kCut : State::kReading;
}

AnswerBody::State AnswerBody::Inflate(std::string_view data) {
  if (inflater_ == nullptr && !Restart()) {
    return State::kBroken;
  }
  const std::size_t from = std::exchange(skip_, 0);
  const bool first = inflater_->total_in == 0;
  z_stream& z = *inflater_;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data() + from));
  z.avail_in = static_cast<uInt>(data.size() - from);
  std::array<char, kInflateBytes> buffer;
  for (;;) {
    if (coding_ == Coding::kEnded) {
      return z.avail_in == 0 ? AtLimit() : State::kBroken;  // something follows the end
    }
    if (coding_ == Coding::kMemberEnded) {
      if (z.avail_in == 0) {
        return AtLimit();
      }
      inflateReset(&z);
      coding_ = Coding::kGzip;
    }
    const bool full = text_.size() == limits_.bytes_max;
    if (full && limits_.truncate) {
      return State::kCut;
    }
    if (!full && room() == 0 && !Grow()) {
      skip_ = data.size() - z.avail_in;
      return State::kWaiting;
    }
    // At the limit one byte more shows whether there is any.
    const std::size_t space = full ? 1 : std::min(buffer.size(), room());
    z.next_out = reinterpret_cast<Bytef*>(buffer.data());
    z.avail_out = static_cast<uInt>(space);
    const int result = inflate(&z, Z_NO_FLUSH);
    const std::size_t n = space - z.avail_out;
    if (full && n > 0) {
      return State::kTooLong;
    }
    text_.append(buffer.data(), n);
    if (result == Z_DATA_ERROR && coding_ == Coding::kDeflate && first && text_.empty()) {
      coding_ = Coding::kRaw;
      if (inflateReset2(inflater_.get(), -MAX_WBITS) != Z_OK) {
        return State::kBroken;
      }
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
      z.avail_in = static_cast<uInt>(data.size());
      continue;
    }
    if (result == Z_STREAM_END) {
      coding_ = coding_ == Coding::kGzip ? Coding::kMemberEnded : Coding::kEnded;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return State::kBroken;
    } else if (z.avail_in == 0 && z.avail_out > 0) {
      return AtLimit();  // it needs more to go on
    }
  }
}

// zlib recognises gzip and its own format by their headers.
bool AnswerBody::Restart() {
  inflater_ = std::make_unique<z_stream>();
  if (inflateInit2(inflater_.get(), MAX_WBITS + 32) != Z_OK) {
    inflater_.reset();
    return false;
  }
  return true;
}

bool AnswerBody::Grow() {
  wanted_ = std::min(std::max(2 * taken_, kFirstStepBytes), limits_.bytes_max);
  if (length_ > 0 && static_cast<std::uint64_t>(length_) > taken_) {
    wanted_ = std::min(wanted_, static_cast<std::size_t>(length_));
  }
  if (held_ == nullptr) {
    held_ = std::make_shared<base::ByteBudget::Holding>(limits_.budget->Open(limits_.org));
  }
  if (!held_->Take(wanted_ - taken_, granted_)) {
    return false;
  }
  taken_ = wanted_;
  text_.reserve(taken_);
  return true;
}

void AnswerBody::Granted() {
  if (state_ == State::kWaiting) {
    taken_ = wanted_;
    text_.reserve(taken_);
    state_ = State::kReading;
  }
}

std::string AnswerBody::TakeText() {
  if (held_ != nullptr && taken_ > text_.size()) {
    held_->GiveBack(taken_ - text_.size());
    taken_ = text_.size();
  }
  return std::exchange(text_, {});
}

std::shared_ptr<base::ByteBudget::Holding> AnswerBody::TakeHolding() {
  return std::exchange(held_, nullptr);
}

void AnswerBody::Reset() {
  if (inflater_ != nullptr) {
    inflateEnd(inflater_.get());
    inflater_.reset();
  }
  text_ = {};
  held_.reset();
  granted_ = nullptr;
  state_ = State::kUnbegun;
  coding_ = Coding::kIdentity;
  length_ = -1;
  taken_ = wanted_ = skip_ = 0;
}

}  // namespace vedette::net
