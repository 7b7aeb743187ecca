#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_budget.h"
#include "base/uuid.h"

namespace vedette::net {

// The body of one answer as it is read: decoded (gzip, deflate), bounded, and counted in a budget.
// Internal to the client; loop thread only.
//
// With a budget it takes bytes before it holds them, in steps that double from 16 KiB on up to the
// limit or to the length the answer declared. The decoding is here and not in curl because curl
// goes on decoding what it has read while a transfer is paused: 16 KiB of a gzip bomb are 16 MiB.
class AnswerBody {
 public:
  struct Limits {
    std::size_t bytes_max = 0;
    bool truncate = false;  // at bytes_max: cut and succeed, or fail
    base::ByteBudget* budget = nullptr;
    base::Uuid org{};
  };
  struct Facts {
    std::string_view coding;   // of the header, in lower case; empty: none
    std::int64_t length = -1;  // as declared, before decoding; -1: not declared
  };

  //                         Feed, bytes are free
  //                         ┌──────┐
  //                         ▼      │   Feed, none are free
  //  kUnbegun ─ Begin ─▶ kReading ─┴──────────────────────▶ kWaiting ─ Granted ─▶ kReading
  //      ▲                  │
  //      │                  └─ Feed (a coding that is not known: Begin) ─▶ kCut, kTooLong, kBroken:
  //      └─ Reset, from any    (End: of a coding that was cut off)         nothing more is read
  //
  // A body that is to be cut is never kBroken: kCut with what was decoded of it.
  enum class State { kUnbegun, kReading, kWaiting, kCut, kTooLong, kBroken };

  AnswerBody() = default;
  ~AnswerBody() { Reset(); }
  AnswerBody(const AnswerBody&) = delete;
  AnswerBody& operator=(const AnswerBody&) = delete;

  // Before the first Feed. `granted` runs where bytes that it waited for are there: on any thread,
  // so it should only see to it that Granted() is called.
  void Begin(const Limits& limits, const Facts& facts, std::function<void()> granted);
  bool begun() const { return state_ != State::kUnbegun; }

  // Reads `data`. After kWaiting the same bytes must come again, once it was granted; what follows
  // them may come with them.
  State Feed(std::string_view data);
  void Granted();
  State state() const { return state_; }
  // No more will come.
  State End();

  // The body and what it holds of the budget, its surplus given back. Then everything is forgotten.
  std::string TakeText();
  std::shared_ptr<base::ByteBudget::Holding> TakeHolding();
  void Reset();

 private:
  // How the bytes that come are decoded.
  //
  //   kIdentity
  //   kGzip ─────── end of a member ──────▶ kMemberEnded ─ more bytes ─▶ kGzip     (RFC 1952, 2.2)
  //   kDeflate ──── end of the data ──────▶ kEnded: nothing may follow
  //       └─ no zlib header ─▶ kRaw ─ end ▶ kEnded      (as some servers send it)
  enum class Coding { kIdentity, kGzip, kMemberEnded, kDeflate, kRaw, kEnded };

  State Copy(std::string_view data);
  State Inflate(std::string_view data);
  bool Restart();
  State Unreadable() const { return limits_.truncate ? State::kCut : State::kBroken; }
  State AtLimit();
  bool Grow();
  std::size_t room() const { return taken_ - text_.size(); }

  Limits limits_;
  std::function<void()> granted_;
  State state_ = State::kUnbegun;
  Coding coding_ = Coding::kIdentity;
  std::int64_t length_ = -1;
  std::string text_;
  std::shared_ptr<base::ByteBudget::Holding> held_;
  std::size_t taken_ = 0;   // what text_ may grow to
  std::size_t wanted_ = 0;  // what it may grow to once it is granted
  std::size_t skip_ = 0;    // of the bytes that come again, those already read
  std::unique_ptr<z_stream> inflater_;
};

}  // namespace vedette::net
