// A file of rows through Node's own streams, without a database: what reading, computing and writing take by themselves.
// streams.mjs: reads commands from stdin, answers each with a line of JSON.
//   flow INPUT OUTPUT    reads a CSV file, keeps nine tenths of its rows, adds columns, writes a CSV file: {rows}
import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import { stringify } from "csv-stringify";

const commands = {
  async flow(input, output) {
    let rows = 0;
    const filter = new Transform({
      objectMode: true,
      transform: (row, _, done) => (row.last !== "7" ? done(null, row) : done()),
    });
    const enrich = new Transform({
      objectMode: true,
      transform(row, _, done) {
        ++rows;
        done(null, { ...row, size: "nothing", enrich_sources: "[]", enrich_confidence: "", enrich_error: "" });
      },
    });
    await pipeline(
      createReadStream(input, { highWaterMark: 1 << 20 }),
      parse({ columns: true }),
      filter,
      enrich,
      stringify({ header: true }),
      createWriteStream(output, { highWaterMark: 1 << 20 }),
    );
    return { rows };
  },
};

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...files] = line.split(" ");
  console.log(JSON.stringify(await commands[name](...files)));
}
