// DBOS: a workflow of two steps, each recorded in PostgreSQL, started and awaited in one process.
// dbos.mjs DATABASE-URL: reads commands from stdin, answers each with a line of JSON.
//   runs N IN-FLIGHT    N workflows, so many under way at once, until all have ended
//   paced N PER-S       starts one each 1 / PER-S seconds: milliseconds from when it was due to its end
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { DBOS } from "@dbos-inc/dbos-sdk";

const quiet = { info() {}, debug() {}, warn() {}, error: (what) => console.error(what) };
DBOS.setConfig({ name: "bench", systemDatabaseUrl: process.argv[2], systemDatabasePoolSize: 20, logger: quiet });
const flow = DBOS.registerWorkflow(
  async (record) => {
    const kept = await DBOS.runStep(async () => [record], { name: "dedupe" });
    return DBOS.runStep(async () => kept.filter((row) => row.last !== 7), { name: "filter" });
  },
  { name: "flow" },
);
await DBOS.launch();

async function one() {
  const handle = await DBOS.startWorkflow(flow)({ n: 1, last: 1 });
  await handle.getResult();
}

const commands = {
  async runs(n, inFlight) {
    let next = 0;
    const worker = async () => {
      while (next++ < n) await one();
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    return {};
  },
  async paced(n, perS) {
    const took = [];
    const begin = performance.now() + 200;
    const due = async (at) => {
      await one();
      took.push(performance.now() - at);
    };
    const started = [];
    for (let i = 0; i < n; i++) {
      const at = begin + (i * 1000) / perS;
      await sleep(Math.max(0, at - performance.now()));
      started.push(due(at));
    }
    await Promise.all(started);
    return { took_ms: took };
  },
};

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...numbers] = line.split(" ");
  console.log(JSON.stringify(await commands[name](...numbers.map(Number))));
}
await DBOS.shutdown();
process.exit(0);
