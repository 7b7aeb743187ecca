// Opens the pages of the dashboard for bench/dashboard: what is asked comes as a line of JSON; before each page a line says which comes,
// and is answered by one; after it a line says how long each look took and what it asked for.
const fs = require('node:fs');
const readline = require('node:readline/promises');
const os = require('node:os');
const path = require('node:path');

const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
                   '--disable-component-update', '--disable-sync'];

// In the page: goes to an address of the dashboard, and waits until what it shows is drawn.
const open = async hash => {
  const main = document.getElementById('main');
  performance.clearResourceTimings();
  const began = performance.now();
  await new Promise(drawn => {
    const seen = new MutationObserver(() => {
      if (!main.querySelector('h2, :scope > .bad')) return;
      seen.disconnect();
      requestAnimationFrame(() => setTimeout(drawn));
    });
    seen.observe(main, {childList: true});
    if (location.hash === hash) dispatchEvent(new HashChangeEvent('hashchange'));
    else location.hash = hash;
  });
  const ms = performance.now() - began;
  const asked = performance.getEntriesByType('resource').filter(one => one.initiatorType === 'fetch');
  return {ms, wrong: main.querySelector(':scope > .bad')?.textContent ?? null,
          requests: asked.map(one => [new URL(one.name).pathname + new URL(one.name).search, one.duration])};
};

async function main() {
  const lines = readline.createInterface({input: process.stdin})[Symbol.asyncIterator]();
  const given = JSON.parse((await lines.next()).value);
  const {chromium} = require(path.join(given.modules, 'playwright-core'));
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-dashboard-'));
  const context = await chromium.launchPersistentContext(profile, {executablePath: given.chromium, args: ARGUMENTS});
  try {
    const page = context.pages()[0] ?? await context.newPage();
    await page.goto(`${given.url}/dashboard#${given.invitation}`);
    await page.getByLabel('A password for the next time').fill(given.password);
    await page.getByRole('button', {name: 'Join', exact: true}).click();
    await page.locator('h2', {hasText: 'Overview'}).waitFor();
    for (const [name, hash] of Object.entries(given.pages)) {
      const look = async () => {
        const seen = await page.evaluate(open, `#/${hash}`);
        if (seen.wrong) throw new Error(`${name}: ${seen.wrong}`);
        return seen;
      };
      await look();  // warms up
      console.log(JSON.stringify({begins: name}));
      await lines.next();
      const looks = [];
      for (let round = 0; round < given.rounds; ++round) looks.push(await look());
      console.log(JSON.stringify({name, looks}));
    }
  } finally {
    await context.close().catch(() => {});
    fs.rmSync(profile, {recursive: true, force: true});
    process.stdin.destroy();
  }
}

main();
