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

  // A try counts, and there are ten a minute.
  async signIn(organisation) {
    await this.field('E-mail address').fill('owner@example.com');
    await this.field('Password').fill(PASSWORD);
    await this.button('Sign in').click();
    await this.choose();
    await this.page.getByRole('button', {name: organisation}).click();
  }

  async signOut() {
    await this.button('Sign out').click();
    await this.title('Sign in');
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
    await fields.fill(`${text}\nmore = css:b\nodd = two\u2028lines`);
    await this.field('Tags').fill(`${await this.field('Tags').inputValue()}, third`);
    await this.look('dashboard-change-of-odd-names', ['light']);
    await this.button('Save').click();
    await this.title(/^another name/);
    const more = await this.read(monitor);
    assert.deepEqual(more.watched, {...before.watched, more: 'css:b', odd: 'two\u2028lines'});
    assert.deepEqual(more.tags.toSorted(), [...before.tags, 'third'].toSorted());
  }

  // Whose organisation has no feature for monitors sees what it has all the same.
  async overlookNoMonitors() {
    await this.page.locator('.tile', {hasText: 'Credits'}).getByText('100,000').waitFor();
    await this.page.getByRole('alert').getByText('monitors').waitFor();
    await this.look('dashboard-overview-without-monitors', ['light']);
  }

  // No overlap is what nobody means who empties a field.
  async rollASecret() {
    await this.at('signing');
    const overlap = this.page.locator('input[type=number]');
    const sure = this.page.getByRole('checkbox', {name: /ends at once/});
    assert.equal(await sure.isVisible(), false, 'the present secret has its overlap');
    await overlap.fill('');
    await this.button('Roll').click();
    assert.equal(await overlap.evaluate(input => input.validity.valueMissing), true);
    await overlap.fill('0');
    await this.look('dashboard-roll-at-once', ['light']);
    await this.button('Roll').click();
    assert.equal(await sure.isVisible(), true);
    assert.equal(await sure.evaluate(input => input.validity.valueMissing), true);
    const {signing_secrets: all} = await this.read('/account/signing-secrets');
    assert.equal(all.length, 1, 'nothing was rolled');
    await sure.check();
    await this.button('Roll').click();
    const secret = this.page.locator('.once code');
    await secret.waitFor();
    const first = await secret.innerText();
    await sure.waitFor({state: 'hidden'});  // in the form of what is there now
    await this.button('Roll').click();
    await this.button('Revoke').click();
    await this.button('Revoke it at once?').click();
    await this.said('Revoked.');
    await this.button('Revoke').waitFor({state: 'detached'});
    assert.notEqual(await secret.innerText(), first, 'what is shown once stays beside what is done then');
  }

  async pauseAChannel() {
    await this.at('channels');
    const row = this.page.getByRole('row', {name: /^by hook/});
    await row.getByRole('button', {name: 'Pause', exact: true}).click();
    await row.getByRole('button', {name: /^Pause it\?/}).click();
    await row.getByText('suspended').waitFor();
    await this.look('dashboard-channel-paused', ['light']);
    await row.getByRole('button', {name: 'Resume'}).click();
    await this.said('Resumed.');
    await row.getByRole('button', {name: 'Pause', exact: true}).waitFor();
    await this.page.locator('main form').first().evaluate(form => { form.noValidate = true; form.requestSubmit(); });
    await this.page.locator('main form p.bad').first().filter({hasText: /./}).waitFor({state: 'attached'});
    assert.equal(await this.page.locator('#said').textContent(), '', 'what was done before does not stand beside a refusal');
    assert.equal(await this.page.getByRole('row', {name: /^a feed/}).getByRole('button', {name: 'Pause'}).count(), 0);
  }

  async readLists() {
    await this.at('schedules');
    await this.main('0 9 * * *; 0 18 * * *');
    for (const wrong of ['usage?from=2026-11-20&to=2026-11-01', 'usage?group_by=nope', 'monitors?status=nope']) {
      await this.at(wrong);
      await this.page.locator('main p.bad').waitFor();
      await this.page.locator('main form.filter').waitFor();
    }
    await this.at('usage?from=2026-11-20&to=2026-11-01');
    await this.page.locator('main p.bad').waitFor();
    await this.look('dashboard-usage-refused', ['light']);
  }

  // What another tab has done stands here at the next click, and nothing is done for the wrong organisation.
  async signInInAnotherTab() {
    await this.at('members');
    await this.title('Members');
    const other = new Tab(await this.page.context().newPage(), this.given);
    await other.at('');
    await other.signOut();
    await other.signIn(/^Others/);
    await other.title('Overview');
    await this.field('E-mail address').fill('somebody@example.com');
    await this.button('Invite').click();
    await this.who('owner of Others');
    await this.said('Another tab has signed in as owner@example.com, owner of Others.');
    await this.look('dashboard-another-tab', ['light']);
    assert.deepEqual((await this.read('/account/invitations')).invitations, []);
    await other.signOut();
    await other.signIn(/^A name/);
    await other.title('Overview');
    await this.nav('Monitors').click();
    await this.who('owner of A name');
    await this.said('Another tab has signed in');
    // The same member again: nothing is to be said.
    await this.at('channels');
    await this.title('Channels');
    await other.signOut();
    await other.signIn(/^A name/);
    await other.title('Overview');
    await this.page.getByRole('row', {name: /^by hook/}).getByRole('button', {name: 'Test'}).click();
    await this.said(/has (not )?taken it/);
    await other.page.close();
  }

  // What is found was paid for: a question that nobody answers is asked again, in less time than an answer may take.
  async waitForALookup() {
    const context = this.page.context();
    const answers = [
      route => route.abort(),
      route => route.fulfill({status: 503, json: {error: 'unavailable', message: 'the database is away'}}),
      route => route.fulfill({status: 404, json: {error: 'not_found', message: 'no such job'}}),
      route => route.fulfill({json: {status: 'running'}}),
      route => route.fulfill({json: {status: 'completed', result: {email: [['ada@engines.example', 'OK', 'person']]}}}),
    ];
    await context.route('**/find-email-async', route => route.fulfill({json: {task_id: 'a'}}));
    await context.route('**/job-status/a?*', route => {
      assert(Number(new URL(route.request().url()).searchParams.get('wait_s')) <= 10, route.request().url());
      return answers.shift()(route);
    });
    await this.at('lookups');
    await this.field('Name').fill('Ada');
    await this.button('Look up').click();
    await this.main('It is being looked up … (the API cannot be reached; asked again)');
    await this.main('(the database is away; asked again)');
    await this.refused('How far it is could not be read: no such job');
    assert.equal(await this.page.getByText('It is being looked up').count(), 0);
    await this.look('dashboard-lookup-unread', ['light']);
    await this.button('Ask again').click();
    await this.page.getByRole('row', {name: /ada@engines.example/}).waitFor();
    assert.equal(answers.length, 0);
    await context.unrouteAll();
  }

  // What a click came to stands where it leads, and goes with that page.
  async tellWhatIsDone() {
    const {context, monitor, blank} = {context: this.page.context(), ...this.given};
    await this.at(`monitors/${monitor}`);
    await this.title(/^another name/);
    await this.page.locator('dt', {hasText: 'Waits for'}).waitFor();
    await context.route('**/trigger', route => route.fulfill({json: {warnings: ['Nothing will be looked at.']}}), {times: 1});
    await this.button('Check now').click();
    await this.said('Nothing will be looked at.');
    await this.nav('Monitors').click();
    await this.title('Monitors');
    assert.equal(await this.page.locator('#said').textContent(), '');
    await this.page.getByRole('link', {name: blank, exact: true}).click();
    await this.title(blank);
    await this.button('Archive').click();
    await this.button('Archive it? It is checked no more.').click();
    await this.said('Archived.');
    await this.page.locator('main:not([aria-busy])').waitFor();  // it is shown again
    await this.button('Delete').click();
    await this.button('Delete it for good?').click();
    await this.title('Monitors');
    await this.said('Deleted.');
    await context.unrouteAll();
  }

  // What cannot be read says why, and nobody who is signed in is asked to sign in.
  async loseTheApi() {
    const context = this.page.context();
    await context.route(`**/monitors/${this.given.monitor}`, route => route.abort());
    await this.at(`monitors/${this.given.monitor}`);
    await this.refused('the API cannot be reached');
    await context.unrouteAll();
    await context.route('**/dashboard/session', route => route.fulfill({status: 503, json: {message: 'the database is away'}}));
    await this.page.reload();
    await this.title('Who is signed in could not be read');
    await this.refused('the database is away');
    await this.look('dashboard-session-unread', ['light']);
    await context.unrouteAll();
    await this.button('Try again').click();
    await this.title(/^another name/);
    // A page that comes late says so; one that cannot be shown has a title, too.
    await context.route('**/account/api-keys?*', async route => {
      await new Promise(go => setTimeout(go, 1500));
      await route.continue();
    });
    await this.nav('Keys').click();
    await this.page.locator('main[aria-busy=true]').waitFor();
    await this.said('Loading …');
    await this.title('Keys');
    assert.equal(await this.page.locator('#said').textContent(), '');
    assert.equal(await this.page.locator('main[aria-busy]').count(), 0);
    await context.unrouteAll();
    await this.at('nowhere');
    await this.title('No such page');
    assert.equal(await this.page.title(), 'No such page · vedette');
    await this.at('sorry/invitation');
    await this.refused('The invitation was used, has expired');
    assert.equal(await this.page.locator('#who').isVisible(), true);
    await this.at('choose');
    await this.title('That did not work');
  }

  // "More" reads each page once, whatever one clicks, and stays where the keyboard is.
  async readOn() {
    const pages = {null: ['the newest', 'two'], two: ['between', 'three'], three: ['the oldest']};
    let away = true;
    await this.page.context().route('**/workflows/runs?*', async route => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor');
      const refused = away && cursor === 'two';
      if (refused) away = false;
      if (refused) return route.fulfill({status: 503, json: {message: 'the database is away'}});
      await new Promise(go => setTimeout(go, 300));
      const [name, next] = pages[cursor];
      await route.fulfill({json: [{job_id: this.given.monitor, workflow_name: name, status: 'completed'}],
                           headers: next ? {'X-Next-Cursor': next} : {}});
    });
    const active = () => this.page.evaluate(() => document.activeElement.textContent);
    await this.at('runs');
    await this.main('the newest');
    await this.button('More').click();
    await this.said('the database is away');
    await this.button('More').dblclick();
    await this.main('between');
    assert.equal(await this.page.locator('#said').textContent(), '');
    assert.equal(await active(), 'More');
    await this.button('More').click();
    await this.main('the oldest');
    assert.equal(await this.button('More').count(), 0);
    assert.match(await active(), /^Runs, newest first/);
    assert.equal(await this.page.locator('main tbody tr').count(), 3);
    await this.page.context().unrouteAll();
    await this.at(`schedules?workflow_id=${this.given.flow}`);
    await this.main('Those of of a file.');
    await this.at(`schedules?workflow_id=${this.given.monitor}`);
    await this.main('There is no such workflow.');
    await this.main('Those of the first workflows');
  }

  // Nothing that was typed goes in silence: not what is given twice, nor a form for what is tried beside it.
  async keepWhatIsTyped() {
    await this.at('lookups');
    await this.title('Lookups');
    await this.field('Name').fill('Ada');
    await this.field('Lines').fill('name\nBob');
    await this.button('Look up').click();
    await this.refused('Leads are given twice');
    await this.at('monitors/new');
    await this.title('New monitor');
    await this.field('Name').fill('half filled');
    await this.field('Rows').fill('https://a.example/');
    await this.field('Or a CSV file').setInputFiles({name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('url\nb.example\n')});
    await this.field('Watched fields').fill('headline = css:h1');
    await this.button('Create').click();
    await this.refused('Rows are given twice');
    const cookies = await this.page.context().cookies();
    await this.page.context().clearCookies();
    const tried = this.page.waitForResponse(answer => answer.url().endsWith('/monitors/preview') && answer.status() === 401);
    await this.field('Every').fill('0 9 * * *');
    await this.field('Watched fields').fill('headline = css:h2');
    await tried;
    await this.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', {bubbles: true})));
    await this.page.locator('section[aria-label=Preview] .note', {hasText: /./}).waitFor();
    assert.equal(await this.field('Name').inputValue(), 'half filled');
    await this.page.context().addCookies(cookies);
  }

  // A line ends where a value is no number, and shows numbers as they are.
  async drawWhatIsNoNumber() {
    const drawn = values => this.page.evaluate(async all => {
      const {stepChart} = await import('/dashboard/assets/figures.js');
      const events = all.map((current_value, n) => ({field: 'price', current_value, created_at: `2026-11-21T00:00:0${n}Z`}));
      const chart = stepChart('price', events.toReversed());
      return [chart.querySelector('figcaption').textContent.split(';')[0], chart.querySelector('path').getAttribute('d')];
    }, values);
    const [caption, path] = await drawn(['41.12345', '41.12399', null, '41.12401', 'sold out']);
    assert.equal(caption, 'lowest 41.12345, highest 41.12401, now sold out');
    assert.match(path, /^M4 \S+H\S+V\S+H\S+M\S+ 6H\S+$/);
    assert(!path.endsWith('H596'), path);
    const [still, on] = await drawn([1, 0.1 + 0.2]);
    assert.match(still, /^lowest 0.3\d*, highest 1, now 0.3/);
    assert(on.endsWith('H596'), on);
    await this.at('deliveries');
    await this.title('Deliveries');
    assert.equal(await this.page.locator('input[pattern]').evaluate(input => {
      input.value = 'no id';
      return input.validity.patternMismatch;
    }), true);
  }

  // Each page of an organisation that is locked says so, and one sees where one is signed in.
  async lockTheOrganisation() {
    const lock = async locked => {
      const answer = await fetch(`${this.given.admin}/admin/v1/orgs/${this.given.org}`, {
        method: 'PATCH', headers: {Authorization: `Bearer ${this.given.token}`, 'Content-Type': 'application/json'},
        body: JSON.stringify({locked, reason: 'unpaid'})});
      assert.equal(answer.status, 200);
      for (const end = Date.now() + WAIT_MS; (await this.read('/credits')).error === 'organisation_locked' !== locked;) {
        assert(Date.now() < end, 'it is not locked');
        await new Promise(soon => setTimeout(soon, 200));
      }
    };
    await this.at('monitors');
    await this.title('Monitors');
    await lock(true);
    await this.page.reload();
    await this.refused('your organisation is locked: ask the operator why');
    await this.who('owner of A name');
    await this.look('dashboard-locked', ['light']);
    await this.nav('Sessions').click();
    await this.page.getByText('this one').waitFor();
    await lock(false);
    await this.nav('Monitors').click();
    await this.page.getByRole('link', {name: 'another name'}).waitFor();
  }

  // A key may be made that ends today.
  async makeAKeyOfToday() {
    const today = new Date().toISOString().slice(0, 10);
    await this.at('keys');
    await this.title('Keys');  // the page before has a field of this name, too
    await this.field('Name').fill('of today');
    await this.field('Until').fill(today);
    await this.button('Make a key').click();
    await this.page.locator('.once code').waitFor();
    const {api_keys: keys} = await this.read('/account/api-keys');
    assert.match(keys.find(key => key.name === 'of today').expires_at, new RegExp(`^${today}T23:59:59`));
  }

  // A stranger's mark of direction turns none of the page's own words around.
  async readRightToLeft() {
    const order = await this.page.evaluate(async () => {
      const {facts, h, link, value} = await import('/dashboard/assets/dom.js');
      const odd = '\u202Eodd';
      const shown = [value(odd), link(odd), link(`https://a.example/${odd}`), h('strong', null, odd)];
      const list = facts(shown.map(one => ['of a stranger', [one, ' behind']]));
      document.querySelector('main').append(list);
      return [...list.querySelectorAll('dd')].map(({firstChild, lastChild}) => {
        const range = document.createRange();
        range.selectNode(lastChild);
        return range.getBoundingClientRect().left >= firstChild.getBoundingClientRect().right - 1;
      });
    });
    assert.deepEqual(order, [true, true, true, true]);
  }

  // A long name is no wider than a telephone.
  async choose() {
    await this.title('Which organisation?');
    await this.look('dashboard-choose-a-long-name', ['light']);
    await this.page.setViewportSize(PHONE);
    await this.look('dashboard-phone-choose-a-long-name', ['light']);
    await this.page.setViewportSize(DESKTOP);
  }

  // Forms, buttons and "Sign out" lead to the sign-in form, and from there back.
  async endTheSession() {
    const uses = {
      keys: async () => {
        await this.field('Name').fill('too late');
        await this.button('Make a key').click();
      },
      channels: () => this.page.getByRole('row', {name: /^by hook/}).getByRole('button', {name: 'Test'}).click(),
      sessions: () => this.button('Sign out').click(),
    };
    const cookies = await this.page.context().cookies();
    for (const [page, use] of Object.entries(uses)) {
      await this.at(page);
      await this.page.locator(`#nav a[href="#/${page}"][aria-current=page]`).waitFor();
      await this.page.locator('main table').first().waitFor();
      await this.page.context().clearCookies();
      await use();
      await this.refused('Your session has ended.');
      assert.equal(await this.page.locator('#nav').isVisible(), false);
      if (page === 'keys') await this.look('dashboard-session-ended');
      if (page !== 'sessions') await this.page.context().addCookies(cookies);
      if (page !== 'sessions') await this.page.reload();
    }
    await this.signIn(/^A name/);
    await this.title('Sessions');
  }

  // The organisation has moved: the page of its cell is gone to, once.
  async followTheOrganisation() {
    await this.at('keys');
    await this.title('Keys');
    await this.page.context().route(/\/(account|dashboard\/(session|sign-in))/, async route => {
      const headers = await route.request().allHeaders();
      if (/^(c[34]|-)$/.test(headers['x-cell'])) return route.continue({headers: {...headers, 'x-cell': ''}});
      await route.fulfill({status: 421, json: {error: 'wrong_cell', message: 'this request is for cell c3', cell: 'c3'}});
    });
    await this.field('Name').fill('too late');
    await this.button('Make a key').click();
    await this.page.waitForURL(`${this.given.url}/dashboard?cell=c3#/keys`);
    await this.title('Keys');
    await this.page.goto(`${this.given.url}/dashboard#/keys`);
    await this.page.waitForURL(`${this.given.url}/dashboard?cell=c3#/keys`);
    await this.title('Keys');
    // It has moved again, and the session is asked first.
    await this.page.context().route('**/dashboard/session', route =>
      route.fulfill({status: 421, json: {error: 'wrong_cell', message: 'this request is for cell c4', cell: 'c4'}}), {times: 1});
    await this.nav('Usage').click();
    await this.page.waitForURL(`${this.given.url}/dashboard?cell=c4#/usage`);
    await this.title('Usage');
    const file = this.page.waitForEvent('download');
    await this.button('As CSV').click();
    assert.equal((await file).suggestedFilename(), 'usage.csv');
    // To the first cell, which has no name, too.
    await this.page.context().route('**/dashboard/session', route =>
      route.fulfill({status: 421, json: {error: 'wrong_cell', message: 'this request is for the first cell', cell: ''}}), {times: 1});
    await this.nav('Keys').click();
    await this.page.waitForURL(`${this.given.url}/dashboard?cell=-#/keys`);
    // A cookie of another cell than the address names is none.
    await this.page.context().route('**/dashboard/session', route =>
      route.fulfill({status: 421, json: {error: 'wrong_cell', message: 'this request is for the first cell', cell: ''}}));
    await this.page.reload();
    await this.title('Sign in');
    await this.page.context().unrouteAll();
    await this.page.goto(`${this.given.url}/dashboard`);
    await this.title('Overview');
  }

  // A role that is taken away takes what it may do from the page.
  async loseTheRole() {
    await this.at('members');
    const row = this.page.getByRole('row', {name: /^owner@/});
    await row.getByLabel('Role').selectOption('viewer');
    await this.said('What you may do was changed: you are owner@example.com, viewer of A name');
    await this.main('This page is for the role owner.');
    assert.equal(await this.nav('Keys').count(), 0);
    await this.look('dashboard-role-lost', ['light']);
    await this.nav('Overview').click();
    await this.title('Overview');
    assert.equal(await this.page.locator('main > .bad').count(), 0);
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
    await tab.overlookNoMonitors();
    await tab.join(given.invitations.owner);
    await tab.changeANameAlone();
    await tab.rollASecret();
    await tab.pauseAChannel();
    await tab.readLists();
    await tab.waitForALookup();
    await tab.tellWhatIsDone();
    await tab.loseTheApi();
    await tab.readOn();
    await tab.keepWhatIsTyped();
    await tab.drawWhatIsNoNumber();
    await tab.lockTheOrganisation();
    await tab.makeAKeyOfToday();
    await tab.readRightToLeft();
    await tab.signInInAnotherTab();
    await tab.endTheSession();
    await tab.followTheOrganisation();
    await tab.loseTheRole();
    assert.deepEqual(tab.problems.filter(text => !/status of (403|421|503)|ERR_FAILED/.test(text)), []);
  } catch (error) {
    await tab.shot('failed-dashboard-changes').catch(() => {});
    throw error;
  } finally {
    await context.close();
  }
}

main();
