// Reads /docs of the API in a headless Chromium, on a phone: it begins with keys, a first request and errors, then has a line
// a group; nothing is wider than the screen, every cell says what it is, nothing is asked of anybody else, the search finds, and
// axe-core has nothing against it. What it needs comes as JSON on standard input.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');

const WAIT_MS = 30000;
const PHONE = {width: 390, height: 844};
const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
                   '--disable-background-networking', '--disable-component-update', '--disable-sync'];

const SCREENS_MAX = 12;

async function search(page, words) {
  await page.getByLabel('Find').fill(words);
  return page.locator('main section:visible').evaluateAll(parts => parts.map(part => part.id));
}

// The part that an address names is open, with its group, and others are not.
async function follow(page, url, id) {
  await page.goto(`${url}/docs#${id}`);
  await page.locator(`#${id} table`).first().waitFor({state: 'visible'});
  const open = await page.locator('section details[open]').evaluateAll(parts => parts.map(part => part.parentElement.id));
  assert(open.includes(id), open.join(' '));
}

// Each cell behind the first, in a table whose head is not shown, begins with what it is.
async function tables(page) {
  return page.locator('main table').evaluateAll(all => all.map(table => ({
    hasHead: getComputedStyle(table.querySelector('thead')).display !== 'none',
    nameless: [...table.querySelectorAll('td:not(:first-child)')].filter(cell =>
      cell.textContent && !/[a-z]/.test(getComputedStyle(cell, '::before').content.replace('none', ''))).length,
  })));
}

async function main() {
  const given = JSON.parse(fs.readFileSync(0, 'utf8'));
  const {chromium} = require(path.join(given.modules, 'playwright-core'));
  const context = await chromium.launchPersistentContext(given.profile, {
    executablePath: given.chromium, args: ARGUMENTS, viewport: PHONE, colorScheme: 'light'});
  context.setDefaultTimeout(WAIT_MS);
  try {
    const page = context.pages()[0] ?? await context.newPage();
    const problems = [];
    page.on('console', message => {
      const isIcon = /favicon/.test(message.location().url);
      if (message.type() === 'error' && !isIcon) problems.push(message.text());
    });
    page.on('pageerror', error => problems.push(`exception: ${error.message}`));
    page.on('request', request => {
      if (!request.url().startsWith(given.url)) problems.push(`asks elsewhere: ${request.url()}`);
    });
    const shot = async name => {
      if (given.screenshots) await page.screenshot({path: path.join(given.screenshots, `${name}.png`)});
    };
    await page.goto(`${given.url}/docs`);
    await shot('docs-phone');
    const begins = await page.locator('main h2').evaluateAll(heads => heads.map(head => head.textContent));
    assert.deepEqual(begins.slice(0, 3), ['Keys', 'A first request', 'Errors']);
    const screens = await page.evaluate(() => document.documentElement.scrollHeight / innerHeight);
    assert(screens < SCREENS_MAX, `the page is ${screens} screens long`);

    await follow(page, given.url, 'createMonitor');
    await shot('docs-phone-operation');
    await page.locator('#createMonitor').getByRole('link', {name: 'CreateMonitor', exact: true}).click();
    await page.locator('#schema-CreateMonitor table').waitFor({state: 'visible'});
    await shot('docs-phone-schema');

    const all = await page.locator('.group section').evaluateAll(parts => {
      for (const closed of document.querySelectorAll('details')) closed.open = true;
      return parts.map(part => part.id);
    });
    assert(all.length > 50, `${all.length} sections`);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert(wider <= 0, `the page is ${wider} px wider than the screen`);
    for (const {hasHead, nameless} of await tables(page)) assert(!hasHead && nameless === 0, `${nameless} cells`);
    const some = await search(page, 'Webhook  TEST');
    assert(some.includes('testWebhook') && !some.includes('getCredits') && some.length < all.length, some.join(' '));
    assert.match(await page.getByRole('status').innerText(), new RegExp(`^${some.length} found$`));
    assert.deepEqual(await search(page, 'no such words at all'), []);
    assert((await search(page, 'jsonld:Product')).includes('describing'), 'how fields are described');
    assert.deepEqual(await search(page, ''), [], 'the groups are closed again');
    await search(page, 'the');

    // The page's own policy refuses what is put into it; this way needs no permission of the page.
    const axe = fs.readFileSync(path.join(given.modules, 'axe-core', 'axe.min.js'), 'utf8');
    await page.evaluate(axe);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({colorScheme});
      const {violations} = await page.evaluate(() => axe.run({runOnly: ['wcag2a', 'wcag2aa'], resultTypes: ['violations']}));
      assert.deepEqual(violations.map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.html).join(' ')}`), [], colorScheme);
    }
    assert.deepEqual(problems, []);
  } finally {
    await context.close();
  }
  console.log(JSON.stringify({done: true}));
}

main();
