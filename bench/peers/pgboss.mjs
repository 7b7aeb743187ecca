// pg-boss at its best: inserted, fetched and completed in large batches, without waiting between them.
// pgboss.mjs DATABASE-URL: reads commands from stdin, answers each with a line of JSON, as graphile.mjs.
import { createInterface } from "node:readline";
import { PgBoss } from "pg-boss";

const BATCH = 10_000;
const FETCH = 1_000;
const FETCHERS = 4;
const boss = new PgBoss({ connectionString: process.argv[2], max: 10, supervise: false, schedule: false });
boss.on("error", (error) => console.error(error));
await boss.start();
await boss.createQueue("noop");

const commands = {
  async enqueue(n) {
    const jobs = Array.from({ length: BATCH }, (_, i) => ({ data: { row: i } }));
    for (let at = 0; at < n; at += BATCH) await boss.insert("noop", jobs.slice(0, Math.min(BATCH, n - at)));
    return {};
  },
  async execute() {
    const fetcher = async () => {
      for (;;) {
        const jobs = await boss.fetch("noop", { batchSize: FETCH });
        if (!jobs || jobs.length === 0) return;
        await boss.complete("noop", jobs.map((job) => job.id));
      }
    };
    await Promise.all(Array.from({ length: FETCHERS }, fetcher));
    return {};
  },
};

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const [name, n] = line.split(" ");
  console.log(JSON.stringify(await commands[name](Number(n))));
}
await boss.stop({ graceful: false });
