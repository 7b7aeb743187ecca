#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

// Rows as parts of jobs have them: a JSON array of arrays. Most cells of a row are only passed on,
// so that each stays text until somebody looks into it (ReadJsonCell). Pure; any thread.
namespace vedette::base {

// The cells of one row, each a JSON text that points into the text of the rows.
using CellTexts = std::vector<std::string_view>;

// Reads the rows one by one, for a caller that goes on with them later. One thread at a time.
class RowReader {
 public:
  // `text` must outlive this object and the cells.
  explicit RowReader(std::string_view text) : text_(text) {}

  // The cells of the next row; false, and the reader is of no more use, where there is none. Throws
  // as ForEachRow.
  bool Next(CellTexts* cells);

 private:
  [[noreturn]] static void Refuse();
  void Space();
  char Peek();
  bool Take(char c);
  void Enter(char c);
  bool End() const;
  void Row(CellTexts* cells);
  std::string_view Value();
  void Container();
  void String();

  std::string_view text_;
  std::size_t at_ = 0;
};

// Calls `row` for every element that is an array; what else stands there (null: a row that was not
// recorded) is passed over. The cells are valid during the call, their text as long as `text` is;
// `row` may take or change the vector. Throws std::invalid_argument for what is no array of arrays;
// what stands inside a cell is not checked, as the database has done that.
void ForEachRow(std::string_view text, const std::function<void(CellTexts& row)>& row);

}  // namespace vedette::base
