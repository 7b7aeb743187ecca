// graphile-worker at its best: jobs added in large batches, a local queue, completions in batches.
// graphile.mjs DATABASE-URL: reads commands from stdin, answers each with a line of JSON.
//   enqueue N    adds N jobs          execute    runs a worker until all are done
//   latency N    adds one job at a time to an idle worker, N times: milliseconds from add to start
import { createInterface } from "node:readline";
import pg from "pg";
import { makeWorkerUtils, run, Logger } from "graphile-worker";

const url = process.argv[2];
const BATCH = 10_000;
const preset = { worker: { concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } };
const logger = new Logger(() => () => {});
const pool = new pg.Pool({ connectionString: url, max: 30 });
const utils = await makeWorkerUtils({ pgPool: pool, logger });
await utils.migrate();

let left = 0;
let allDone = () => {};
let started = () => {};
const taskList = {
  noop: () => {
    if (--left === 0) allDone();
  },
  timed: () => started(performance.now()),
};

const commands = {
  async enqueue(n) {
    const jobs = Array.from({ length: BATCH }, (_, i) => ({ identifier: "noop", payload: { row: i } }));
    for (let at = 0; at < n; at += BATCH) await utils.addJobs(jobs.slice(0, Math.min(BATCH, n - at)));
    left = n;
    return {};
  },
  async execute() {
    const done = new Promise((resolve) => (allDone = resolve));
    const runner = await run({ preset, pgPool: pool, logger, taskList, noHandleSignals: true });
    await done;
    await runner.stop(); // completions are flushed before this returns
    return {};
  },
  async latency(n) {
    // For the start of one job, what suits latency: no local queue.
    const runner = await run({ preset: { worker: { concurrentJobs: 4 } }, pgPool: pool, logger, taskList, noHandleSignals: true });
    const took = [];
    for (let i = 0; i < n; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const start = new Promise((resolve) => (started = resolve));
      await utils.addJob("timed", {});
      const added = performance.now();
      took.push((await start) - added);
    }
    await runner.stop();
    return { latency_ms: took };
  },
};

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const [name, n] = line.split(" ");
  console.log(JSON.stringify(await commands[name](Number(n))));
}
await utils.release();
await pool.end();
