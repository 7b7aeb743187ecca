// graphile-worker at its best: jobs added in large batches, a local queue, completions in batches.
// graphile.mjs DATABASE-URL: reads commands from stdin, answers each with a line of JSON.
//   enqueue N    adds N jobs          execute    runs a worker until all are done
//   latency N    adds one job at a time to an idle worker, N times: milliseconds from add to start
//   trickle N S  adds N jobs, S a second and one at a time, to a worker that runs
//   lookups N    adds N jobs one at a time, by 16 connections, to a worker that runs; each writes its result as a row
//   rows N K     adds N / K jobs in batches and runs a worker until all are done; each writes K rows as its result
//   flow N K     the same with jobs that carry K rows of 200 bytes: each keeps nine tenths, adds columns, writes them
//   leads N K    the same with jobs that carry K leads, as bench/jobs' runs do: each keeps all, adds columns, writes them
//   blocks N K   the same with a job a block: the first adds the columns and a job that carries the rows on, which keeps all and writes
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
  result: async ({ rows }, helpers) => {
    await helpers.query(
      `insert into bench_result (job_id, row, result)
       select $1, n, json_build_object('email', 'person' || n || '@people.example', 'status', 'OK')
       from generate_series(1, $2) n`,
      [helpers.job.id, rows],
    );
    if (--left === 0) allDone();
  },
  carried: ({ rows }, helpers) => write(kept(rows).map(enriched), helpers),
  first: ({ rows }, helpers) => helpers.addJob("second", { rows: rows.map(enriched) }),
  second: ({ rows }, helpers) => write(kept(rows), helpers),
};
const kept = (rows) => rows.filter((row) => row.last !== "7");
const enriched = (row) => ({ ...row, size: "nothing", enrich_sources: [], enrich_error: null });
async function write(rows, helpers) {
  await helpers.query(
    `insert into bench_result (job_id, row, result)
     select $1, n, value from json_array_elements($2::json) with ordinality as carried (value, n)`,
    [helpers.job.id, JSON.stringify(rows)],
  );
  if (--left === 0) allDone();
}
const lead = (at) => ({ name: `Person ${at}`, domain: `company${at % 1000}.example` });
const ADDERS = 16;
// The jobs of a batch that carry rows: a statement takes as many at a time.
const ROWS_OF_BATCH = 100_000;
await pool.query("create table if not exists bench_result (job_id bigint, row int, result json, primary key (job_id, row))");

async function working(jobs, add) {
  left = jobs;
  const done = new Promise((resolve) => (allDone = resolve));
  const runner = await run({ preset, pgPool: pool, logger, taskList, noHandleSignals: true });
  await add();
  await done;
  await runner.stop(); // completions are flushed before this returns
  return {};
}

async function carrying(identifier, n, each, row) {
  const jobs = Math.floor(n / each);
  const job = (at) => ({ identifier, payload: { rows: Array.from({ length: each }, (_, i) => row(at * each + i)) } });
  const batch = Math.max(1, Math.min(BATCH, Math.floor(ROWS_OF_BATCH / each)));
  return working(jobs, async () => {
    for (let at = 0; at < jobs; at += batch)
      await utils.addJobs(Array.from({ length: Math.min(batch, jobs - at) }, (_, i) => job(at + i)));
  });
}

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
  async trickle(n, perSecond) {
    const began = performance.now();
    return working(n, async () => {
      const added = [];
      for (let at = 0; at < n; at++) {
        const early = began + (at * 1000) / perSecond - performance.now();
        if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
        added.push(utils.addJob("noop", { row: at }));
      }
      await Promise.all(added);
    });
  },
  async lookups(n) {
    let next = 0;
    const adder = async () => {
      while (next++ < n) await utils.addJob("result", { rows: 1, lead: { name: `Person ${next}`, domain: "people.example" } });
    };
    return working(n, () => Promise.all(Array.from({ length: ADDERS }, adder)));
  },
  async rows(n, each) {
    const jobs = Math.floor(n / each);
    const batch = Array.from({ length: BATCH }, () => ({ identifier: "result", payload: { rows: each } }));
    return working(jobs, async () => {
      for (let at = 0; at < jobs; at += BATCH) await utils.addJobs(batch.slice(0, Math.min(BATCH, jobs - at)));
    });
  },
  async flow(n, each) {
    return carrying("carried", n, each, (at) => ({ n: `${at}`, last: `${at % 10}`, name: `Company ${at} Limited`, note: "x".repeat(150) }));
  },
  async leads(n, each) {
    return carrying("carried", n, each, lead);
  },
  async blocks(n, each) {
    return carrying("first", n, each, lead);
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
  const [name, ...numbers] = line.split(" ");
  console.log(JSON.stringify(await commands[name](...numbers.map(Number))));
}
await utils.release();
await pool.end();
