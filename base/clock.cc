#include "base/clock.h"

#include <fmt/format.h>
#include <pthread.h>
#include <time.h>

#include <stdexcept>

#include "base/assert.h"

namespace vedette::base {
namespace {

std::chrono::nanoseconds ReadClock(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec);
}

// Takes RFC 3339 text apart from left to right; every method fails with the whole text in the
// message.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  int Digits(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      if (!AtDigit()) Fail();
      value = value * 10 + (text_[at_++] - '0');
    }
    return value;
  }

  void Expect(char c) {
    if (!Accept(c)) Fail();
  }

  bool Accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // The digits behind the point as microseconds; what is finer is cut off.
  std::chrono::microseconds Fraction() {
    if (!AtDigit()) Fail();
    std::int64_t micros = 0;
    std::int64_t unit = 100000;
    for (; AtDigit(); ++at_, unit /= 10) micros += (text_[at_] - '0') * unit;
    return std::chrono::microseconds(micros);
  }

  bool AtEnd() const { return at_ == text_.size(); }

  [[noreturn]] void Fail() const {
    throw std::invalid_argument(fmt::format("not an RFC 3339 time: \"{}\"", text_));
  }

 private:
  bool AtDigit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::chrono::minutes ReadOffset(Reader* in) {
  if (in->Accept('Z') || in->Accept('z')) return std::chrono::minutes(0);
  const bool west = in->Accept('-');
  if (!west) in->Expect('+');
  const int hours = in->Digits(2);
  in->Expect(':');
  const int minutes = in->Digits(2);
  if (hours > 23 || minutes > 59) in->Fail();
  const std::chrono::minutes offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  return west ? -offset : offset;
}

}  // namespace

Timestamp SystemClock::Now() const {
  return Timestamp(std::chrono::floor<std::chrono::microseconds>(ReadClock(CLOCK_REALTIME)));
}

std::chrono::nanoseconds SystemClock::SinceBoot() const {
  return ReadClock(CLOCK_BOOTTIME);
}

std::chrono::nanoseconds ThreadTime() {
  return ReadClock(CLOCK_THREAD_CPUTIME_ID);
}

ThreadClock::ThreadClock() {
  Assert(pthread_getcpuclockid(pthread_self(), &id_) == 0, "Linux has a clock for each thread");
}

std::chrono::nanoseconds ThreadClock::Now() const {
  return ReadClock(id_);
}

std::string FormatTimestamp(Timestamp t) {
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(t - day);
  const int year = static_cast<int>(date.year());
  std::string out = "0000-00-00T00:00:00.000000Z";
  const auto put = [&out](std::size_t end, std::int64_t value) {
    for (std::size_t i = end; value != 0; value /= 10) {
      out[--i] = static_cast<char>('0' + value % 10);
    }
  };
  if (year < 0 || year > 9999) {
    out.replace(0, 4, fmt::format("{:04}", year));
  } else {
    put(4, year);
  }
  const std::size_t at = out.size() - 23;  // behind the year
  put(at + 3, static_cast<unsigned>(date.month()));
  put(at + 6, static_cast<unsigned>(date.day()));
  put(at + 9, time.hours().count());
  put(at + 12, time.minutes().count());
  put(at + 15, time.seconds().count());
  put(at + 22, time.subseconds().count());
  return out;
}

Timestamp ParseTimestamp(std::string_view text) {
  Reader in(text);
  const std::chrono::year year(in.Digits(4));
  in.Expect('-');
  const std::chrono::month month(static_cast<unsigned>(in.Digits(2)));
  in.Expect('-');
  const std::chrono::day day(static_cast<unsigned>(in.Digits(2)));
  if (!in.Accept('T') && !in.Accept('t') && !in.Accept(' ')) in.Fail();
  const int hours = in.Digits(2);
  in.Expect(':');
  const int minutes = in.Digits(2);
  in.Expect(':');
  const int seconds = in.Digits(2);
  std::chrono::microseconds fraction{};
  if (in.Accept('.')) fraction = in.Fraction();
  const std::chrono::minutes offset = ReadOffset(&in);
  const std::chrono::year_month_day date(year, month, day);
  // A leap second (60) has no place in Unix time; it is refused rather than moved.
  if (!in.AtEnd() || !date.ok() || hours > 23 || minutes > 59 || seconds > 59) in.Fail();
  const Timestamp moment = std::chrono::sys_days(date) + std::chrono::hours(hours) +
                           std::chrono::minutes(minutes) + std::chrono::seconds(seconds) +
                           fraction - offset;
  // The offset may lead out of the years that a text of this form can say.
  const std::chrono::year_month_day in_utc(std::chrono::floor<std::chrono::days>(moment));
  if (in_utc.year() < std::chrono::year(0) || in_utc.year() > std::chrono::year(9999)) in.Fail();
  return moment;
}

}  // namespace vedette::base
