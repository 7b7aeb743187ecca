// What becomes of a page of the dashboard whose session, role or cell changes under it, and of what nobody touched in its forms, in
// a headless Chromium. What it needs comes as JSON on standard input.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const {Console, DESKTOP, PHONE, WAIT_MS} = require('./console_page.js');

const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
                   '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const PASSWORD = 'correct horse battery';

class Tab extends Console {
  at(hash) { return this.page.goto(`${this.given.url}/dashboard#/${hash}`); }
  title(text) { return this.page.locator('h2', {hasText: text}).first().waitFor(); }
  said(text) { return this.page.locator('#said', {hasText: text}).waitFor(); }
  who(text) { return this.page.locator('#who', {hasText: text}).waitFor(); }
  nav(name) { return this.page.locator('#nav').getByText(name, {exact: true}); }
  field(label) { return this.page.getByLabel(label, {exact: true}); }
  refused(text) { return this.page.getByRole('alert').getByText(text).waitFor(); }
  read(what) { return this.page.evaluate(async url => (await fetch(url)).json(), what); }

  async join(invitation) {
    await this.page.goto(`${this.given.url}/dashboard#${invitation}`);
    await this.title('Join');
    await this.page.locator('input[type=password]').fill(PASSWORD);
    await this.button('Join').click();
    await this.title('Overview');
  }

  // Its rows have other fields and tags than a line or a comma can say; what nobody touched stays as it is.
  async changeANameAlone() {
    const monitor = `/monitors/${this.given.monitor}`;
    const before = await this.read(monitor);
    await this.at(`monitors/${this.given.monitor}/change`);
    await this.title('Edit');
    await this.field('Name').fill('another name');
    await this.button('Save').click();
    await this.title(/^another name/);
    const after = await this.read(monitor);
    assert.deepEqual([after.watched, after.tags, after.channel_ids], [before.watched, before.tags, before.channel_ids]);
    await this.at(`monitors/${this.given.monitor}/change`);
    await this.title('Edit');
    const fields = this.field('Watched fields');
    const text = await fields.inputValue();
    await fields.fill(`${text}\nmore = css:b\nmore = css:i`);
    await this.button('Save').click();
    await this.page.locator('form .bad').getByText('The field "more" is there twice.').waitFor();
    await fields.fill(`${text}\nmore = css:b`);
    await this.field('Tags').fill(`${await this.field('Tags').inputValue()}, third`);
    await this.look('dashboard-change-of-odd-names', ['light']);
    await this.button('Save').click();
    await this.title(/^another name/);
    const more = await this.read(monitor);
    assert.deepEqual(more.watched, {...before.watched, more: 'css:b'});
    assert.deepEqual(more.tags.toSorted(), [...before.tags, 'third'].toSorted());
  }
}

async function main() {
  const given = JSON.parse(fs.readFileSync(0, 'utf8'));
  const {chromium} = require(path.join(given.modules, 'playwright-core'));
  const context = await chromium.launchPersistentContext(given.profile, {
    executablePath: given.chromium, args: ARGUMENTS, viewport: DESKTOP, colorScheme: 'light'});
  context.setDefaultTimeout(WAIT_MS);
  const tab = new Tab(context.pages()[0] ?? await context.newPage(), given);
  try {
    await tab.join(given.invitations.other);
    await tab.join(given.invitations.owner);
    await tab.changeANameAlone();
    assert.deepEqual(tab.problems.filter(text => !/status of (403|421)/.test(text)), []);
  } catch (error) {
    await tab.shot('failed-dashboard-changes').catch(() => {});
    throw error;
  } finally {
    await context.close();
  }
}

main();
