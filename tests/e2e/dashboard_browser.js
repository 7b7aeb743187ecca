// Uses the dashboard as members do, in a headless Chromium. What it needs comes as JSON on standard input.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const {Console, DESKTOP, PHONE, WAIT_MS} = require('./console_page.js');

const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
                   '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const PASSWORD = 'correct horse battery';

class Member extends Console {
  // What stood on the page before is gone when this has ended.
  async at(hash) {
    const url = `${this.given.url}/dashboard#/${hash}`;
    await this.page.evaluate(() => document.querySelectorAll('main > *').forEach(old => old.setAttribute('data-before', '')));
    await (this.page.url() === url ? this.page.reload() : this.page.goto(url));
    await this.page.locator('main > :not([data-before])').first().waitFor();
  }
  title(text) { return this.page.locator('h2', {hasText: text}).first().waitFor(); }

  async join(role, organisation = 'Tests') {
    await this.page.goto(`${this.given.url}/dashboard#${this.given.invitations[role]}`);
    await this.title(`Join ${organisation}`);
    await this.look(`dashboard-join-${role}`);
    await this.page.getByLabel(/^(A password for the next time|Your password)$/).fill(PASSWORD);
    await this.button('Join').click();
    await this.title('Overview');
  }

  async signOut() {
    await this.button('Sign out').click();
    await this.title('Sign in');
  }

  async signOutAndIn(role) {
    await this.signOut();
    await this.look(`dashboard-sign-in-${role}`);
    await this.page.getByLabel('E-mail address').fill(`${role}@example.com`);
    await this.page.getByLabel('Password').fill('not the password');
    await this.button('Sign in').click();
    await this.page.getByRole('alert').getByText('is not right').waitFor();
    await this.page.getByLabel('Password').fill(PASSWORD);
    await this.button('Sign in').click();
    await this.title('Overview');
  }

  async walk() {
    for (const page of this.given.pages) {
      await this.at(page);
      await this.page.locator('main h2').waitFor();
      assert.equal(await this.page.locator('main > .bad').count(), 0, page);
      await this.see(`dashboard-${page.replace(/[/?=]/g, '-') || 'overview'}`);
    }
    await this.at(`monitors/${this.given.monitor}`);
    await this.title('find me');
    await this.see('dashboard-monitor');
    await this.at(`monitors/${this.given.monitor}/rows/${this.given.row}`);
    await this.page.getByRole('img', {name: /^price: \d+ changes, from 38 to 45/}).waitFor();
    await this.page.locator('ins', {hasText: '45'}).first().waitFor();
    await this.seeThePage();
    await this.see('dashboard-row');
    await this.at(`monitors/${this.given.monitor}/change`);
    await this.title('Edit');
    await this.see('dashboard-change');
    await this.seeTheRun();
  }

  // What the page said before a change and with it, by lines; it is read when it is opened.
  async seeThePage() {
    const event = this.page.locator('.events > li', {has: this.page.locator('strong', {hasText: 'price'})}).first();
    assert.equal(await event.locator('.page .diff').count(), 0);
    await event.locator('.page summary').click();
    await event.locator('.page del', {hasText: 'one at 45'}).waitFor();
    await event.locator('.page ins', {hasText: 'one at 44'}).waitFor();
    await this.layPictures();
  }

  // Pages that were rendered have pictures, which are drawn beside and over each other.
  async layPictures() {
    await this.page.evaluate(async () => {
      const {pageOf} = await import('/dashboard/assets/snapshots.js');
      const picture = colour => new Promise(made => {
        const canvas = Object.assign(document.createElement('canvas'), {width: 320, height: 200});
        const to = canvas.getContext('2d');
        to.fillStyle = colour;
        to.fillRect(0, 0, 320, 200);
        canvas.toBlob(made, 'image/webp');
      });
      const read = async (id, part) => part === 'text' ? new Blob([`# ${id}`]) : picture(id);
      const details = pageOf({snapshot_id: 'green', previous_snapshot_id: 'red', created_at: new Date().toISOString()}, read);
      details.id = 'pictures';
      document.querySelector('main').append(details);
      details.open = true;
    });
    const page = this.page.locator('#pictures');
    await page.getByRole('img', {name: 'Picture of the page before the change'}).waitFor();
    await page.getByRole('button', {name: 'Lay them over each other'}).click();
    const slider = page.getByRole('slider');
    await slider.fill('100');
    const colour = () => page.locator('.stack .top').evaluate(top => top.style.clipPath || top.style.getPropertyValue('clip-path'));
    assert.match(await colour(), /inset\(0(px)? 0%/);
    await slider.fill('25');
    assert.match(await colour(), /inset\(0(px)? 75%/);
    await this.page.evaluate(() => document.querySelector('#pictures').scrollIntoView());
  }

  // What a spreadsheet writes: quotes, commas in them, blank lines, a cell without a value.
  async readABatch() {
    const text = 'name,company\r\n"Lovelace, ""Ada""",engines.example\n\nBob,\n';
    const rows = await this.page.evaluate(async t => (await import('/dashboard/assets/lookups.js')).csvRows(t), text);
    assert.deepEqual(rows, [{name: 'Lovelace, "Ada"', company: 'engines.example'}, {name: 'Bob'}]);
    const refusals = await this.page.evaluate(async texts => {
      const {csvRows} = await import('/dashboard/assets/lookups.js');
      return texts.map(t => { try { return csvRows(t); } catch (e) { return e.message.split('.')[0]; } });
    }, ['name\nRobert "Bob" Smith\n', 'name\r\nBob\r\n5" pipe', 'name\n"open', '\nname,name\nA,B',
        'name,company\n"A\nB",a\n\nLovelace, Ada,engines', 'name,company\nBob', 'name,\nBob,b', 'name;company\nBob;b', 'name\tcompany\nBob\tb']);
    const oneColumn = name => `Line 1: the header is one column, "${name}": fields are separated by commas, not by semicolons or tabs`;
    assert.deepEqual(refusals, ['Line 2: text beside a quote', 'Line 3: text beside a quote', 'Line 2: text beside a quote',
      'Line 2: the column "name" is there twice', 'Line 5: 3 fields where the header has 2', 'Line 2: 1 fields where the header has 2',
      'Line 1: column 2 has no name', oneColumn('name;company'), oneColumn('name\tcompany')]);
    // An address of a role is nobody's, and nobody is asked.
    await this.at('lookups');
    await this.page.getByLabel('Look for').selectOption({label: 'the person behind an address'});
    await this.page.getByLabel('Lines').fill('email\ninfo@engines.example\nsales@engines.example\n');
    await this.button('Look up').click();
    await this.page.getByRole('row', {name: /^sales@engines.example/}).waitFor();
    await this.button('As CSV').waitFor();
    await this.look('dashboard-looked-up', ['light']);
  }

  openForms() { return this.page.evaluate(() => document.querySelectorAll('details').forEach(details => { details.open = true; })); }

  // Every page with its forms open, and dark on a screenshot that is kept for people.
  async see(name) {
    await this.openForms();
    await this.look(name, ['light']);
    await this.page.emulateMedia({colorScheme: 'dark'});
    await this.shot(`${name}-dark`);
    await this.page.emulateMedia({colorScheme: 'light'});
  }

  // The page on a phone, in both colours, with its forms open, and by the keyboard alone.
  async seeOnAPhone(name) {
    await this.page.setViewportSize(PHONE);
    await this.openForms();
    await this.look(`dashboard-phone-${name}`);
    await this.tabThrough(name);
    await this.page.setViewportSize(DESKTOP);
  }

  // A file starts a run, whose bars fill while one looks; a channel and a key are made and go again.
  async useTheForms() {
    await this.at('runs');
    await this.page.getByText('Start a run').click();
    await this.page.getByLabel('Workflow').selectOption({label: 'of a file'});
    await this.page.getByLabel('CSV file').setInputFiles({name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('n\n1\n2\n1\n')});
    await this.button('Start').click();
    await this.page.getByRole('img', {name: 'dedupe: 100 %'}).waitFor();
    await this.main('3 of 3 rows in, 2 rows out');
    await this.at('schedules');
    await this.page.getByText('New schedule').click();
    await this.page.getByLabel('Workflow', {exact: true}).selectOption({label: 'of a file'});
    await this.page.getByLabel('Name', {exact: true}).fill('of that file');
    await this.page.getByLabel('When', {exact: true}).fill('6h');
    await this.page.getByLabel('CSV file').setInputFiles({name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('n\n1\n')});
    await this.button('Create').click();
    const timed = this.page.getByRole('row', {name: /^of that file/});
    await timed.getByRole('button', {name: 'Delete'}).click();
    await timed.getByRole('button', {name: /^Delete it\?/}).click();
    await timed.waitFor({state: 'detached'});
    await this.at('channels');
    await this.page.getByText('New channel').click();
    await this.page.getByLabel('Name', {exact: true}).fill('by form');
    await this.page.getByLabel('Kind', {exact: true}).selectOption('feed');
    await this.button('Create').click();
    const made = this.page.getByRole('row', {name: /by form/});
    await made.getByRole('button', {name: 'Delete'}).click();
    await made.getByRole('button', {name: /^Delete it\?/}).click();
    await made.waitFor({state: 'detached'});
    await this.at('keys');
    await this.page.getByLabel('Name', {exact: true}).fill(`for reading ${this.given.hostile}`);
    await this.page.getByLabel('read', {exact: true}).check();
    await this.button('Make a key').click();
    await this.page.getByRole('row', {name: /^for reading </}).waitFor();
    await this.page.locator('.once code', {hasText: /^vd_live_/}).waitFor();
    await this.look('dashboard-keys-of-strangers', ['light']);
    await this.makeWhatIsShownOnce();
  }

  // What was made stands in the page's list beside the secret, without a reload.
  async makeWhatIsShownOnce() {
    await this.at('signing');
    await this.main('Webhooks are not signed yet.');
    await this.button('Make a secret').click();
    await this.button('Roll').waitFor();
    await this.page.getByRole('row', {name: /it is rolled/}).waitFor();
    await this.page.locator('.once code').waitFor();
    await this.look('dashboard-signing-made', ['light']);
    await this.at('members');
    await this.page.getByLabel('E-mail address').fill('invited@example.com');
    await this.button('Invite').click();
    await this.page.getByRole('row', {name: /^invited@example.com viewer/}).waitFor();
    await this.page.locator('.once code', {hasText: 'vd_inv_'}).waitFor();
    await this.look('dashboard-members-invited', ['light']);
  }

  // Each page that the role is offered, and those of a monitor, its row and a run, which a team may not have.
  async walkWhatIsOffered(role, names, ofTeam = false) {
    const links = this.page.locator('#nav a');
    assert.deepEqual(await links.allInnerTexts(), names);
    for (const name of names) {
      await links.getByText(name, {exact: true}).click();
      await this.title(name);
      assert.equal(await this.page.locator('main > .bad').count(), 0, name);
      await this.seeOnAPhone(`${role}-${name}`);
    }
    const {monitor, row, run} = this.given;
    const own = {monitor: `monitors/${monitor}`, row: `monitors/${monitor}/rows/${row}`};
    for (const [name, page] of Object.entries({...own, run: `runs/${run}`})) {
      await this.at(page);
      assert.equal(await this.page.locator('main > .bad').count(), ofTeam && name in own ? 1 : 0, name);
      await this.seeOnAPhone(`${role}-${name}`);
    }
  }

  // A member of two organisations says which one he means.
  async choose() {
    await this.join('other', 'Others');
    await this.signOut();
    await this.page.getByLabel('E-mail address').fill('owner@example.com');
    await this.page.getByLabel('Password').fill(PASSWORD);
    await this.button('Sign in').click();
    await this.title('Which organisation?');
    await this.see('dashboard-choose');
    await this.seeOnAPhone('choose');
    assert.deepEqual(await this.page.locator('main li').allInnerTexts(), ['Tests, as owner', 'Others, as owner']);
    await this.button('Others, as owner').focus();
    await this.page.keyboard.press('Enter');
    await this.title('Overview');
    await this.page.locator('#who', {hasText: 'owner of Others'}).waitFor();
  }

  // No page shows anything of another organisation, by its own address or by ids of the other's, though the one who looks is a
  // member of both.
  async tryWhatIsNotTheirs() {
    const {monitor, row, run, flow, pages, marks} = this.given;
    const named = [`monitors/${monitor}`, `monitors/${monitor}/change`, `monitors/${monitor}/rows/${row}`, `runs/${run}`];
    const narrowed = ['monitors?name=find', 'monitors?failing=true', `schedules?workflow_id=${flow}`, 'usage?group_by=monitor', 'usage?group_by=key'];
    for (const page of [...pages, ...narrowed, ...named]) {
      await this.at(page);
      const text = await this.page.locator('main').innerText();
      for (const mark of marks) assert(!text.includes(mark), `${page} shows "${mark}": ${text}`);
      assert.equal(await this.page.locator('main > .bad').count(), named.includes(page) ? 1 : 0, `${page}: ${text}`);
    }
    await this.signOut();
  }

  async seeTheRun() {
    await this.at(`runs/${this.given.run}`);
    await this.page.getByRole('img', {name: 'dedupe: 100 %'}).waitFor();
    await this.button('Files').click();
    const link = this.page.getByRole('link', {name: /\.csv$/});
    await link.waitFor();
    await this.see('dashboard-run');
  }

  // All sessions end, the one that asks for it, too.
  async signOutEverywhere() {
    await this.at('sessions');
    await this.page.getByText('this one').waitFor();
    await this.button('Sign out everywhere').click();
    await this.button('End all of them, this one, too?').click();
    await this.title('Sign in');
    assert.equal((await this.page.request.get(`${this.given.url}/dashboard/session`)).status(), 401);
  }

  async onAPhone() {
    const {monitor, row, run, pages} = this.given;
    for (const page of [...pages, `monitors/${monitor}`, `monitors/${monitor}/change`, `monitors/${monitor}/rows/${row}`, `runs/${run}`]) {
      await this.at(page);
      const name = page.replace(monitor, 'monitor').replace(row, 'row').replace(run, 'run').replace(/[/?=]/g, '-');
      await this.seeOnAPhone(name || 'overview');
    }
  }

  async makeAMonitorByKeyboard() {
    await this.at('monitors/new');
    await this.page.getByLabel('Rows', {exact: true}).fill(this.given.page);
    await this.page.getByLabel('Watched fields', {exact: true}).fill('headline = css:h1');
    await this.page.locator('dd', {hasText: 'one'}).waitFor();  // the preview, as one types
    await this.pickOnThePage();
    await this.sayHowPagesAreRead();
    await this.page.getByLabel('Every', {exact: true}).fill('0 25 * * *');
    await this.main('the hour 25 is not between 0 and 23');
    await this.page.getByLabel('Every', {exact: true}).fill('0 9 * * 1-5');
    await this.page.getByLabel('Time zone', {exact: true}).fill('Europe/Berlin');
    await this.main('Next by UTC');  // the times, likewise
    await this.page.getByLabel('Name', {exact: true}).focus();
    await this.page.keyboard.type('by keyboard');
    await this.page.keyboard.press('Enter');
    await this.title('by keyboard');
    await this.main('Europe/Berlin');
    const made = await this.page.evaluate(async () => (await fetch(`/${location.hash.slice(2)}`)).json());
    assert.deepEqual(made.probe, {ignore: ['dates', {selector: '.ad'}]});
    await this.button('Pause').click();
    await this.page.getByRole('button', {name: 'Resume'}).waitFor();
  }

  // Fields write the JSON that is sent, and show what is written there; secrets are in neither.
  async sayHowPagesAreRead() {
    await this.openForms();
    const json = this.page.getByLabel('JSON', {exact: true});
    const said = async () => JSON.parse(await json.inputValue() || '{}');
    await this.page.getByLabel('Run the scripts of pages').selectOption('always');
    await this.page.getByLabel('Read a page when this is there').fill('#price');
    await this.button('Add a step').click();
    await this.page.getByLabel('Step 1: what is done').selectOption({label: 'type in a field'});
    await this.page.getByLabel('Step 1: selector').fill('#password');
    await this.page.getByLabel('Step 1: only where this is there').fill('form');
    await this.page.getByLabel('a secret').check();
    await this.page.getByLabel('Step 1: the secret password').fill('hush');
    await this.page.getByLabel('keep the session between checks').check();
    await this.page.getByLabel('dates', {exact: true}).check();
    await this.page.getByLabel('Elements', {exact: true}).fill('.ad');
    assert.deepEqual(await said(), {
      render: 'always', wait_for: '#price', steps: [{fill: '#password', value: {secret: 'password'}, if: 'form'}],
      secrets: {password: null}, session: 'kept', ignore: ['dates', {selector: '.ad'}]});
    await this.see('dashboard-probe-fields');
    await this.button('Remove').click();
    assert.deepEqual(Object.keys(await said()), ['render', 'wait_for', 'session', 'ignore']);
    await json.fill('{"ignore": ["dates", {"selector": ".ad"}]}');
    assert.equal(await this.page.getByLabel('Run the scripts of pages').inputValue(), '');
    assert.equal(await this.page.getByLabel('keep the session between checks').isChecked(), false);
  }

  // A field is made of what is picked in a picture: by a click, and by the keyboard. The picture is one of a stand-in, as
  // nothing is rendered here.
  async pickOnThePage() {
    const image = await this.page.evaluate(() => {
      const canvas = Object.assign(document.createElement('canvas'), {width: 640, height: 400});
      const context = canvas.getContext('2d');
      context.fillStyle = '#fff';
      context.fillRect(0, 0, 640, 400);
      context.fillStyle = '#333';
      context.font = '32px sans-serif';
      context.fillText('one', 40, 80);
      context.fillText('49 EUR', 40, 180);
      return canvas.toDataURL('image/webp').split(',')[1];
    });
    const elements = [{x: 0, y: 0, width: 640, height: 400, selector: 'body', text: 'one 49 EUR'},
                      {x: 40, y: 40, width: 200, height: 60, selector: 'h1', text: 'one'},
                      {x: 40, y: 140, width: 200, height: 60, selector: 'p[data-testid="price"]', text: '49 EUR'}];
    await this.page.route('**/monitors/preview', async route => {
      if (!route.request().postDataJSON().screenshot) return route.continue();
      await route.fulfill({json: {rows: [{subject: {}, observed: {}, unread: {}, error: null}], warnings: [], screenshot: {image, elements}}});
    });
    const fields = this.page.getByLabel('Watched fields', {exact: true});
    await this.button('Pick on the page').click();
    const picture = this.page.getByRole('img', {name: 'Picture of the page'});
    const box = await picture.boundingBox();
    await picture.click({position: {x: box.width * 100 / 640, y: box.height * 170 / 400}});
    assert.equal(await fields.inputValue(), 'headline = css:h1\nprice = css:p[data-testid="price"]');
    await this.page.getByText('Picked: p[data-testid="price"]').waitFor();
    await this.see('dashboard-picker');
    await this.page.getByLabel('What can be watched on the page').focus();
    await this.page.keyboard.press('ArrowUp');
    await this.page.keyboard.press('Enter');
    assert.match(await fields.inputValue(), /\nh1 = css:h1$/);
    await this.page.locator('dt', {hasText: /^h1$/}).waitFor();  // it is tried at once
    await fields.fill('headline = css:h1');
    await this.page.unroute('**/monitors/preview');
  }

  async seeOnlyWhatAViewerMay() {
    assert.equal(await this.page.locator('#nav').getByText('Keys').count(), 0);
    await this.at(`monitors/${this.given.monitor}`);
    await this.title('find me');
    assert.equal(await this.button('Pause').count(), 0);
    await this.at('keys');
    await this.main('This page is for the role owner.');
  }
}

async function main() {
  const given = JSON.parse(fs.readFileSync(0, 'utf8'));
  const {chromium} = require(path.join(given.modules, 'playwright-core'));
  const context = await chromium.launchPersistentContext(given.profile, {
    executablePath: given.chromium, args: ARGUMENTS, viewport: DESKTOP, colorScheme: 'light'});
  context.setDefaultTimeout(WAIT_MS);
  const member = new Member(context.pages()[0] ?? await context.newPage(), given);
  try {
    await member.join('owner');
    await member.signOutAndIn('owner');
    await member.walk();
    await member.readABatch();
    await member.useTheForms();
    await member.onAPhone();
    await member.makeAMonitorByKeyboard();
    await member.signOutEverywhere();
    await member.choose();
    await member.tryWhatIsNotTheirs();
    const offered = ['Overview', 'Monitors', 'Runs', 'Schedules', 'Channels', 'Signing in', 'Sessions'];
    await member.join('member');
    await member.walkWhatIsOffered('member', offered.toSpliced(4, 0, 'Lookups'));
    await member.signOut();
    await member.join('team');
    await member.walkWhatIsOffered('team', offered.toSpliced(4, 0, 'Lookups'), true);
    await member.signOut();
    await member.join('viewer');
    await member.walkWhatIsOffered('viewer', offered);
    await member.seeOnlyWhatAViewerMay();
    assert.deepEqual(member.problems, []);
    assert.equal(await member.page.evaluate(() => window.hacked), undefined);
  } catch (error) {
    await member.shot('failed-dashboard').catch(() => {});
    throw error;
  } finally {
    await context.close();
  }
}

main();
