// Uses the console as an operator does, in a headless Chromium. What it needs comes as JSON on standard input; it ends
// with a line of JSON on standard output, or with an exception that says what was not seen.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const {Console, DESKTOP, PHONE, WAIT_MS} = require('./console_page.js');

const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
                   '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// What each kind of page shows, and what is done there.
class Operator extends Console {
  // A fleet without a worker: what it cannot do stands above every figure, and none of them looks calm.
  async seeWhatIsMissing() {
    await this.main('has the role worker: nothing is checked');
    await this.page.locator('.tile.bad', {hasText: 'Monitors late'}).getByText('and none is checked').waitFor();
    assert(await this.page.locator('main').evaluate(main => {
      const said = [...main.querySelectorAll('[role=alert]')].find(p => p.textContent.includes('nothing is checked'));
      return said.compareDocumentPosition(main.querySelector('.tile')) & Node.DOCUMENT_POSITION_FOLLOWING;
    }), 'it stands below the figures');
    await this.look('overview-without-a-worker');
  }

  async seeTheFleet() {
    await this.page.getByRole('img', {name: /Checks a second, by outcome, now: .*unchanged 0?\.?[0-9]*[1-9]/}).waitFor();
    await this.page.getByRole('img', {name: /Schedule lag, now: p50 [0-9.]+ s/}).waitFor();
    assert.equal(await this.page.locator('.plot canvas').count(), 4, 'every chart is drawn');
    // The job of this test holds a chunk, and a process serves its lane.
    const lane = this.page.getByRole('region', {name: 'Job chunks by lane'}).getByRole('row', {name: /^lookup/});
    assert.equal(await lane.innerText(), ['lookup', '0', '1', '0', '–', '1'].join('\t'));
    await this.page.getByRole('region', {name: 'Monitors that fail'}).getByRole('link', {name: 'cannot work'}).waitFor();
    await this.age(/^shown as it was \d/);
    // A figure leads to what it counts.
    assert.equal(await this.page.getByRole('link', {name: 'Deliveries dead'}).getAttribute('href'), '#/deliveries?state=dead');
    assert.equal(await this.page.getByRole('link', {name: 'Monitors failing'}).getAttribute('href'), '#/monitors?failing=true');
    await this.button('Drain this process').click();
    await this.page.getByRole('dialog').getByText('gives back what it has not begun').waitFor();
    await this.page.keyboard.press('Escape');
    // A second point, so that there is a line.
    await this.page.waitForResponse(answer => answer.url().endsWith('/admin/v1/overview'));
    await this.look('overview');
  }

  async findMonitor() {
    await this.page.getByRole('link', {name: 'Monitors', exact: true}).click();
    await this.page.getByLabel('Name or id', {exact: true}).fill(this.given.monitor.name);
    await this.button('Show').click();
    await this.page.waitForURL(/q=/);
    const rows = await this.onlyRow();
    await this.look('monitors');
    await rows.getByRole('link', {name: this.given.organisation, exact: true}).waitFor();  // its name, not an id
    await rows.getByRole('link').first().click();
    await this.badge('active');
    await this.page.getByRole('group', {name: /The last \d+ ticks/}).waitFor();
    await this.look('monitor');
  }

  async pauseAndResume() {
    const {monitor, neighbour} = this.given;
    await this.button('Pause').click();
    const dialog = this.page.getByRole('dialog');
    await dialog.getByText('5 seconds').waitFor();
    await this.look('pause');
    await dialog.getByRole('button', {name: 'Pause', exact: true}).click();
    assert(await dialog.isVisible(), 'no pause without a reason');
    await dialog.getByLabel('Reason').fill('the site asked us <b>not</b> to');
    await dialog.getByRole('button', {name: 'Pause', exact: true}).click();
    await this.badge('paused');
    await this.main('the site asked us <b>not</b> to');
    // It stops, while its neighbour goes on.
    await this.moreTicks(neighbour.id, 5);
    const stopped = await this.newestTick(monitor.id);
    await this.moreTicks(neighbour.id, 3);
    assert.equal(await this.newestTick(monitor.id), stopped, 'it is paused');
    await this.button('Resume').click();
    await this.page.keyboard.press('Escape');
    await this.badge('paused');
    await this.button('Resume').click();
    await dialog.getByRole('button', {name: 'Resume', exact: true}).click();
    await this.badge('active');
    await this.moreTicks(monitor.id, 1);
  }

  async seeHostileEvents() {
    const {monitor, row} = this.given;
    await this.go(`#/monitors/${monitor.id}/rows/${row}`);
    await this.page.locator('.diff ins').first().waitFor();
    const seen = await this.page.locator('.events').innerText();
    assert(seen.includes(this.given.hostile), 'what the page said is shown as text');
    assert.equal(await this.page.locator('.diff ins mark').first().innerText(), this.given.difference);
    assert.equal(await this.page.evaluate(() => window.hacked), undefined);
    await this.look('events');
    await this.page.getByLabel('Show', {exact: true}).selectOption('change');
    await this.page.waitForURL(/events=change/);
    await this.page.getByRole('region', {name: 'Events, newest first'}).locator('.diff ins').first().waitFor();
    await this.look('changes-of-a-row');
  }

  // What every monitor saw, of one organisation, and of one monitor.
  async seeChanges() {
    const {monitor} = this.given;
    await this.page.getByRole('link', {name: 'Changes', exact: true}).click();
    await this.main('Of the last 7 days');
    const events = this.page.getByRole('region', {name: 'Events, newest first'});
    // A monitor that fails every second has the newest events.
    await events.getByRole('link', {name: 'cannot work'}).first().waitFor();
    await this.page.getByLabel('Show', {exact: true}).selectOption('change');
    await this.page.getByLabel('Organisation (name or id)').fill(this.given.organisation);
    await this.button('Show').click();
    await this.page.waitForURL(/event_type=change&org_id=[0-9a-f-]{36}/);
    await events.locator('.diff ins mark').first().waitFor();
    await events.getByRole('link', {name: monitor.name}).first().waitFor();
    await this.look('changes');
    await this.go(`#/monitors/${monitor.id}`);
    await this.page.getByRole('link', {name: 'All changes and errors of this monitor'}).click();
    await this.page.getByRole('heading', {name: `Changes of ${monitor.name}`}).waitFor();
    await events.locator('.diff ins').first().waitFor();
    await this.look('changes-of-a-monitor');
    // A long text is shown by its lines.
    await this.page.evaluate(async () => {
      const {diff} = await import('/console/diff.js');
      const text = n => Array.from({length: 12}, (_, i) => `Sentence ${i === 6 ? n : i} of a long page.`).join(' ');
      document.querySelector('main').append(diff({previous_value: text('six'), current_value: text('seven')}));
    });
    const lines = this.page.locator('.diff.lines');
    assert.deepEqual(await lines.locator('> *').allInnerTexts(), [
      '… 5 lines the same', 'Sentence 5 of a long page.', 'Sentence six of a long page.', 'Sentence seven of a long page.',
      'Sentence 7 of a long page.', '… 4 lines the same']);
    assert.deepEqual(await lines.locator('mark').allInnerTexts(), ['six', 'seven']);
    await this.look('lines');
  }

  // One tick, found from its monitor: what failed in it, and why.
  async seeATick() {
    const {failing} = this.given;
    await this.go('#/monitors');
    await this.page.getByLabel('Organisation (name or id)').fill(this.given.organisation);
    await this.page.getByLabel('Health').selectOption('true');
    await this.button('Show').click();
    await this.page.waitForURL(/org_id=[0-9a-f-]{36}.*failing=true/);
    const rows = this.page.locator('main tbody tr');
    await rows.getByText('failing').first().waitFor();
    assert.equal(await rows.count(), 1, 'one monitor fails');
    await this.go(`#/monitors/${failing.id}`);
    await this.page.getByLabel('Which rows').selectOption('failing');
    await this.page.waitForURL(/rows=failing/);
    await this.page.getByRole('region', {name: 'Rows, in the order'}).getByText('failing').first().waitFor();
    await this.page.getByRole('region', {name: 'Ticks, newest first'}).getByRole('link').nth(2).click();
    await this.page.getByRole('heading', {name: 'Rows that failed'}).waitFor();
    await this.main('no_address');
    await this.look('tick');
    await this.page.getByRole('link', {name: 'its row'}).first().click();
    await this.main('Last completed check');
    await this.main('no_address');
    await this.look('failing-row');
  }

  // What is made here is shown once, and can be copied.
  async takeSecret(title) {
    const dialog = this.page.getByRole('dialog');
    await dialog.getByRole('heading', {name: title}).waitFor();
    const secret = await dialog.locator('code').innerText();
    await dialog.getByRole('button', {name: /^Copy/}).click();
    await dialog.getByText('Copied').waitFor();
    await dialog.getByRole('button', {name: 'I have it'}).click();
    await dialog.waitFor({state: 'hidden'});
    return secret;
  }

  // The way from nothing to an organisation whose client can begin.
  async makeAnOrganisation() {
    const dialog = this.page.getByRole('dialog');
    const confirm = name => dialog.getByRole('button', {name, exact: true}).click();
    await this.go('#/organisations');
    await this.button('New organisation').click();
    await dialog.getByLabel('Name').fill('Newcomers');
    await dialog.getByLabel('high_tier').check();
    await this.look('new-organisation');
    await confirm('Make it');
    await this.page.getByRole('heading', {name: /Newcomers.*no credits/}).waitFor();
    await this.button('Book credits').click();
    await dialog.getByLabel('Amount').fill('100');
    await dialog.getByLabel('Reason').fill('a beginning');
    await confirm('Book');
    await this.page.getByRole('heading', {name: /^Newcomers\s*$/}).waitFor();
    await this.button('New team').click();
    await dialog.getByLabel('Name').fill('Buyers');
    await dialog.getByLabel(/Spend limit/).fill('50');
    await confirm('Make it');
    await this.page.getByRole('region', {name: 'Teams'}).getByText('Buyers').waitFor();
    await this.button('New API key').click();
    await dialog.getByLabel('Name').fill('first');
    await dialog.getByLabel('Sees the monitors of').selectOption({label: 'Buyers'});
    await confirm('Make it');
    const key = await this.takeSecret('The API key');
    assert.match(key, /^vd_live_/);
    await this.page.getByRole('region', {name: 'API keys'}).getByText('Buyers').waitFor();
    await this.button('New signing secret').click();
    await confirm('Make it');
    const secret = await this.takeSecret('The signing secret');
    await this.page.getByRole('region', {name: 'Signing secrets'}).getByText('current').waitFor();
    assert(!(await this.page.locator('main').innerText()).includes(secret), 'a secret is shown once');
    await this.button('New OAuth client').click();
    await dialog.getByLabel('Name').fill('warehouse');
    await confirm('Make it');
    await this.page.getByRole('region', {name: 'OAuth clients'}).getByText('warehouse').waitFor();
    await this.button('New session').click();
    await dialog.getByLabel('User (your id of them)').fill('ada');
    await confirm('Open it');
    const session = await this.takeSecret('The session');
    await this.page.getByRole('region', {name: 'Users'}).getByText('ada').first().waitFor();
    await this.page.getByRole('region', {name: 'Sessions'}).getByText('ada').first().waitFor();
    assert(!(await this.page.locator('main').innerText()).includes(session), 'a token is shown once');
    await this.button('Features').click();
    await dialog.getByLabel('high_tier').uncheck();
    await confirm('Set');
    await this.page.locator('dd', {hasText: /^monitors$/}).waitFor();
    await this.look('new-organisation-made');
    return this.useKey(key);
  }

  // The key works: what a client makes with it is seen here.
  async useKey(key) {
    const answer = await fetch(`${this.given.api}/monitors`, {headers: {'x-api-key': key}});
    assert.equal(answer.status, 200);
  }

  // A channel from nothing: it is tried, shows what became of it, is paused and resumed.
  async makeAChannel() {
    const dialog = this.page.getByRole('dialog');
    const confirm = name => dialog.getByRole('button', {name, exact: true}).click();
    await this.go('#/organisations');
    await this.page.getByRole('link', {name: this.given.organisation, exact: true}).click();
    await this.page.getByRole('link', {name: 'where it is told'}).click();
    await this.main('No channel.');
    await this.button('New channel').click();
    await dialog.getByLabel('Name').fill(`told ${this.given.hostile}`);
    await dialog.getByLabel(/^Its address/).fill('no address');
    await confirm('Make it');
    await dialog.getByRole('alert').getByText(/target\.url/).waitFor();
    await dialog.getByLabel(/^Its address/).fill(this.given.receiver);
    await confirm('Make it');
    await this.badge('active');
    await this.main('Nothing so far.');
    await this.button('Try it').click();
    await this.page.getByRole('status').getByText('delivered').waitFor();
    await this.button('Pause').click();
    await confirm('Pause');
    await this.badge('suspended');
    await this.main('paused');
    await this.look('channel');
    await this.button('Resume').click();
    await confirm('Resume');
    await this.badge('active');
    await this.go('#/organisations');
    await this.page.getByRole('link', {name: this.given.organisation, exact: true}).click();
    await this.page.getByRole('link', {name: 'where it is told'}).click();
    await this.page.getByRole('region', {name: 'Channels, newest first'}).getByText('active').waitFor();
    await this.look('channels');
  }

  // A monitor from nothing: what is wrong stands beside its field, a preview shows what a check would see.
  async makeAMonitor() {
    const fill = (label, text) => this.page.getByLabel(label, {exact: true}).fill(text);
    const wrong = (name, text) => this.page.locator(`#wrong-${name}`, {hasText: text}).waitFor();
    await this.go('#/organisations');
    await this.page.getByRole('link', {name: this.given.organisation, exact: true}).click();
    await this.page.getByRole('link', {name: 'make a new monitor'}).click();
    await this.button('Make it').click();
    await wrong('name', /\S/);
    await wrong('rows', /\S/);
    assert.equal(await this.page.getByLabel('Name', {exact: true}).getAttribute('aria-invalid'), 'true');
    await this.look('new-monitor-refused');
    await fill('Name', 'made in the console');
    await fill('Rows', this.given.page);
    await fill('Watched fields', 'headline = css:h1\nnothing = css:.none');
    await fill('Rules', '{"cost": {"ignore": ["x"]}}');
    await this.button('Preview').click();
    await wrong('rules', /cost/);
    await fill('Rules', '{"headline": {"ignore": ["[0-9]+ left"]}}');
    await fill('Every', '1x');
    await this.button('Preview').click();
    await wrong('frequency', /1x/);
    await fill('Every', '1d');
    await this.button('Preview').click();
    await this.page.getByRole('heading', {name: 'What a check would see'}).waitFor();
    await this.page.locator('.preview dd', {hasText: 'employees'}).first().waitFor();
    await this.look('new-monitor');
    await this.button('Make it').click();
    await this.badge('active');
    await this.page.getByRole('heading', {name: 'Which changes are told'}).waitFor();
    await this.page.getByRole('link', {name: 'Change this monitor'}).click();
    await fill('Name', 'changed in the console');
    await fill('By the clock', '0 25 * * *');
    await this.main('the hour 25 is not between 0 and 23');
    await fill('Time zone', 'Europe/Berlin');
    await fill('By the clock', '0 9 * * 1-5\n0 12 L * *');
    await this.main('Next by UTC');
    await this.look('change-monitor');
    await this.button('Change it').click();
    await this.main('0 9 * * 1-5, 0 12 L * * in Europe/Berlin');
    await this.page.getByRole('link', {name: 'Change this monitor'}).click();
    await fill('By the clock', '');
    await fill('Every', '2h');
    await this.button('Change it').click();
    await this.page.getByRole('heading', {name: /changed in the console/}).waitFor();
    await this.main('2h');
  }

  // Its fields are others than a line can say, its numbers beyond those of a browser: what nobody touched stays as it is.
  async changeANameAlone() {
    const change = async (hash, name, more) => {
      await this.go(`#/${hash}/change`);
      const field = this.page.getByLabel('Name', {exact: true});
      await field.waitFor();
      if (name) await field.fill(name);
      await more?.();
      await this.button('Change it').click();
      if (more) await this.page.getByRole('link', {name: 'Go on'}).click();  // prose is warned of
      await this.page.waitForURL(new RegExp(`#/${hash}$`));
      await this.page.getByRole('heading', {name: /^another name/}).waitFor();
    };
    const {monitor, schedule} = this.given;
    await change(`schedules/${schedule}`, 'another name');
    await change(`monitors/${monitor.id}`, 'another name');
    await change(`monitors/${monitor.id}`);
    await change(`monitors/${monitor.id}`, null, async () => {
      const fields = this.page.getByLabel('Watched fields');
      await fields.fill(`${await fields.inputValue()}\nmore = css:b`);
      await this.look('change-of-odd-names', ['light']);
    });
  }

  // Nothing is refused in silence, nothing is thought better of that is under way, and the keyboard stays where it was.
  async tellWhatFails() {
    const context = this.page.context();
    const dialog = this.page.getByRole('dialog');
    const away = path => context.route(path, route => route.request().method() === 'GET'
      ? route.fulfill({status: 503, json: {message: 'the database is away'}}) : route.fallback());
    const told = () => this.page.getByRole('alert').getByText('It could not be read: the database is away').waitFor();
    const active = text => this.page.waitForFunction(t => document.activeElement.textContent.startsWith(t), text);
    const organisation = `/admin/v1/orgs/${this.given.organisationId}`;
    const book = async amount => {
      await this.button('Book credits').click();
      await dialog.getByLabel('Amount').fill(amount);
      await dialog.getByLabel('Reason').fill('for a test');
      await this.page.keyboard.press('Enter');
    };
    await this.go(`#/organisations/${this.given.organisationId}`);
    await this.main('Of what was booked until');
    await context.route(`**${organisation}/credits`, async route => {
      await new Promise(go => setTimeout(go, 1500));
      await route.continue();
    });
    await book('7.5');
    for (const key of ['Escape', 'Escape', 'Escape']) await this.page.keyboard.press(key);
    await dialog.getByRole('button', {name: 'Go back'}).click({force: true});
    assert(await dialog.isVisible(), 'what is sent is not thought better of');
    await dialog.waitFor({state: 'hidden'});
    await this.page.locator('dd', {hasText: /^100,007\.5$/}).waitFor();
    await active('Book credits');
    await context.unrouteAll();
    await away(`**${organisation}`);
    await book('1');
    await told();
    await this.look('read-again-in-vain', ['light']);
    await context.unrouteAll();
    await this.button('Refresh').click();
    await this.page.locator('dd', {hasText: /^100,008\.5$/}).waitFor();
    assert.equal(await this.page.locator('#said').textContent(), '');
    await away(/format=csv/);
    await this.button('Download as CSV').click();
    await told();
    await context.unrouteAll();
    await this.readOnInVain();
    // What a filter asks for is refused below its form.
    await this.go('#/deliveries?state=dead&job_id=nonsense');
    await this.page.getByRole('alert').getByText(/job_id/).waitFor();
    await this.page.getByLabel('Job id').waitFor();
    assert.equal(await this.page.getByRole('button', {name: /^Replay all/}).count(), 0, 'jobs are not what is replayed');
    this.problems = this.problems.filter(text => !/status of 503/.test(text));
  }

  // A list whose next page is refused says so once, and goes on.
  async readOnInVain() {
    let refusals = 2;
    await this.page.context().route('**/admin/v1/runs?*', route => {
      const first = new URL(route.request().url()).searchParams.get('cursor') === null;
      if (!first && refusals-- > 0) return route.fulfill({status: 503, json: {message: 'the database is away'}});
      return route.fulfill({json: {items: [{id: 'a', workflow_name: first ? 'the newest' : 'the oldest', status: 'completed'}],
                                   next_cursor: first ? 'two' : null}});
    });
    await this.go('#/runs?status=completed');
    await this.main('the newest');
    const wrong = this.page.locator('main').getByText('the database is away');
    for (const n of [1, 0]) {
      await this.button('Show more').focus();
      await this.page.keyboard.press('Enter');
      await this.page.waitForFunction(() => document.querySelector('main button[aria-busy]') === null);
      await wrong.waitFor();
      assert.equal(await wrong.count(), 1);
      assert.equal(refusals, n);
    }
    await this.page.keyboard.press('Enter');
    await this.main('the oldest');
    assert.equal(await wrong.count(), 0);
    assert.match(await this.page.evaluate(() => document.activeElement.textContent), /^Runs, newest first/);
    await this.page.context().unrouteAll();
  }

  async terminate() {
    await this.page.getByRole('link', {name: 'Jobs', exact: true}).click();
    await this.page.getByLabel('Kind').selectOption('find_email');
    await this.page.getByLabel('Status').selectOption('running');
    await this.button('Show').click();
    await this.page.waitForURL(/status=running/);
    const rows = await this.onlyRow();
    await this.look('jobs');
    await rows.getByRole('link').first().click();
    await this.badge('running');
    await this.main(this.given.job);
    await this.page.getByRole('region', {name: 'Chunks that are not done'}).getByText('leased').waitFor();
    await this.page.locator('dd').getByRole('link', {name: this.given.organisation, exact: true}).first().waitFor();
    await this.look('job');
    assert.equal(await this.button('Terminate').getAttribute('class'), 'final', 'what cannot be undone is red');
    await this.button('Terminate').click();
    const dialog = this.page.getByRole('dialog');
    assert.equal(await dialog.getByRole('button', {name: 'Terminate', exact: true}).getAttribute('class'), 'danger');
    await dialog.getByRole('button', {name: 'Terminate', exact: true}).click();
    assert(await dialog.isVisible(), 'no termination without a reason');
    await dialog.getByLabel('Reason').fill('it hangs');
    await dialog.getByRole('button', {name: 'Terminate', exact: true}).click();
    await this.badge('terminated');
    await this.main('cancelled_by_operator');
    await this.main('No chunk is left');
    assert.equal(await this.button('Terminate').count(), 0, 'an end is final');
    await this.look('job-ended');
  }

  async seeWhatMailServersSay() {
    await this.page.getByRole('link', {name: 'Email', exact: true}).click();
    await this.main('No process asks mail servers');
    const servers = this.page.getByRole('region', {name: 'Mail servers that are left alone'});
    await servers.getByText(`550 5.7.1 ${this.given.hostile}`).waitFor();
    await this.page.getByRole('region', {name: 'Questions to mail servers'}).getByText('used up').waitFor();
    const providers = this.page.getByRole('region', {name: 'Providers of lookups'});
    await providers.getByText('silent', {exact: true}).waitFor();
    await providers.getByText('[providers.gravatar] url is empty').waitFor();
    await this.look('email');
    await servers.getByRole('button', {name: 'Ask again: verify.example google'}).click();
    const dialog = this.page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('taken off the list');
    await dialog.getByRole('button', {name: 'Ask again', exact: true}).click();
    await servers.getByText('left alone', {exact: true}).waitFor({state: 'hidden'});
    await this.look('email-asked-again');
  }

  // A workflow runs by itself: its times are shown while they are written, and what is refused stands beside its field.
  async letAWorkflowRunByItself() {
    const fill = (label, text) => this.page.getByLabel(label, {exact: true}).fill(text);
    const dialog = this.page.getByRole('dialog');
    const act = async (name, reason) => {
      await this.button(name).click();
      if (reason) await dialog.getByLabel('Reason').fill(reason);
      await dialog.getByRole('button', {name, exact: true}).click();
    };
    await this.go(`#/runs/${this.given.failedRun}`);
    await this.page.getByRole('link', {name: 'make a new one'}).click();
    await fill('Name', `by itself ${this.given.hostile}`);
    await fill('By the clock', '0 25 * * *');
    await this.main('the hour 25 is not between 0 and 23');
    await fill('By the clock', '0 9 * * 1-5');
    await fill('Time zone', 'Europe/Berlin');
    await this.main('Next by UTC');
    await this.button('Make it').click();
    await this.page.locator('#wrong-webhook_payload', {hasText: 'webhook_payload'}).waitFor();
    await fill('Records', '[{"n": 1}');
    await this.button('Make it').click();
    await this.page.locator('#wrong-webhook_payload', {hasText: 'It is no JSON.'}).waitFor();
    await this.look('new-schedule');
    await fill('Records', '[{"n": 1}]');
    await this.button('Make it').click();
    await this.badge('active');
    await this.main('0 9 * * 1-5 in Europe/Berlin');
    await this.main('No slot has come yet.');
    await act('Pause', 'too many runs');
    await this.badge('paused');
    await this.main('Paused: too many runs (by the operator)');
    await this.look('schedule');
    await act('Resume', 'they are fewer');
    await this.badge('active');
    await this.page.getByRole('link', {name: 'Change this schedule'}).click();
    await fill('By the clock', '');
    await fill('Time zone', '');
    await fill('Every', '6h');
    await this.button('Change it').click();
    await this.main('every 6h');
    await this.page.getByRole('link', {name: 'Schedules', exact: true}).click();
    await this.page.getByLabel('Status').selectOption('active');
    await this.button('Show').click();
    await this.page.waitForURL(/status=active/);
    await this.look('schedules');
    await this.page.locator('main tbody').getByRole('link').first().click();
    await act('Run now');  // the public API is asked, and has no reason
    await this.badge('failed');
    await this.page.getByRole('link', {name: 'its schedule'}).waitFor();
  }

  async seeARun() {
    await this.page.getByRole('link', {name: 'Runs', exact: true}).click();
    await this.page.getByLabel('Status').selectOption('active');
    await this.button('Show').click();
    await this.page.waitForURL(/status=active/);
    const rows = await this.onlyRow();
    await this.look('runs');
    await rows.getByRole('link').first().click();
    await this.badge('running');
    await this.main(this.given.run);
    await this.page.getByRole('img', {name: /filter completed 100 %, enrich_lead \w+ 0 %/}).waitFor();
    const files = this.page.getByRole('region', {name: 'Files'}).getByRole('link');
    assert.equal(await files.count(), 0, 'links are shown on demand alone');
    await this.button('Show links to the files').click();
    await files.last().waitFor();
    const file = await fetch(await files.last().getAttribute('href'));
    assert.equal(await file.text(), 'n\r\n2\r\n3\r\n', 'what the filter kept, without a credential');
    await this.look('run');
    // The way from a run to what it made and told, and back.
    await this.page.getByRole('link', {name: 'made by this run'}).click();
    await this.page.waitForURL(/run_id=/);
    await this.main('No monitor matches.');
    await this.page.goBack();
    await this.page.getByRole('link', {name: 'with its chunks and its deliveries'}).click();
    await this.page.getByRole('link', {name: 'not delivered'}).click();
    await this.page.waitForURL(/job_id=/);
    await this.main('No delivery matches.');
    await this.go(`#/runs/${this.given.run}`);
    await this.button('Cancel the run').click();
    const dialog = this.page.getByRole('dialog');
    const confirm = dialog.getByRole('button', {name: 'Cancel the run', exact: true});
    await confirm.click();
    assert(await dialog.isVisible(), 'no cancellation without a reason');
    await dialog.getByLabel('Reason').fill('not wanted');
    await confirm.click();
    await this.badge('terminated');
    await this.page.getByRole('img', {name: /filter completed 100 %, enrich_lead cancelled 0 %/}).waitFor();
    await this.main('No chunk is left');
    assert.equal(await this.button('Cancel the run').count(), 0, 'an end is final');
    await this.go(`#/runs/${this.given.failedRun}`);
    await this.badge('failed');
    await this.main(/^Block 1 \(filter\) failed: column nowhere/);
    assert((await this.page.locator('main').innerText()).includes(this.given.hostile), 'it is shown as text');
    await this.look('run-failed');
  }

  async replay() {
    await this.page.getByRole('link', {name: 'Deliveries', exact: true}).click();
    await this.page.getByLabel('State').selectOption('dead');
    await this.button('Show').click();
    await this.page.waitForURL(/state=dead/);
    await this.look('deliveries');
    await this.page.locator('main tbody tr').first().getByRole('link').first().click();
    await this.badge('dead');
    await this.main('410');
    await this.main('Service-Monitor-Id: ');
    await this.look('delivery');
    await this.button('Replay').click();
    await this.page.getByRole('dialog').getByLabel('Reason').fill('the receiver is mended');
    await this.page.getByRole('dialog').getByRole('button', {name: 'Replay', exact: true}).click();
    await this.page.getByRole('dialog').waitFor({state: 'hidden'});
    for (const end = Date.now() + WAIT_MS;;) {
      await this.page.reload();
      await this.page.locator('h2 .badge').waitFor();
      if (await this.page.locator('h2 .badge').innerText() === 'delivered') break;
      assert(Date.now() < end, 'not delivered after the replay');
    }
    await this.button('Send again').click();
    await this.page.getByRole('dialog').getByRole('button', {name: 'Send again', exact: true}).click();
    await this.page.getByRole('dialog').waitFor({state: 'hidden'});
    // The page is renewed by itself.
    await this.page.getByRole('region', {name: 'Attempts'}).locator('tbody tr').nth(2).waitFor();
    await this.badge('delivered');
  }

  async seeTheRest() {
    await this.page.getByRole('link', {name: 'Organisations', exact: true}).click();
    await this.page.getByRole('link', {name: this.given.organisation, exact: true}).waitFor();
    await this.look('organisations');
    await this.page.getByRole('link', {name: this.given.organisation, exact: true}).click();
    await this.main('Spent this month');
    await this.look('organisation');
    await this.page.getByRole('link', {name: 'Audit', exact: true}).click();
    await this.main('the receiver is mended');
    await this.main('monitor.pause');
    await this.main('job.terminate');
    await this.main('run.cancel');
    await this.look('audit');
    // Entries of one kind: with whose it was, and a link to what it was done to.
    await this.page.getByLabel('What', {exact: true}).fill('monitor.pause');
    await this.page.getByLabel('Who (name of a token)').fill('default');
    await this.button('Show').click();
    await this.page.waitForURL(/action=monitor\.pause&actor=default/);
    const rows = this.page.locator('main tbody tr');
    await rows.nth(1).waitFor({state: 'detached'});
    await rows.getByRole('link', {name: this.given.organisation, exact: true}).first().waitFor();
    assert.equal(await rows.count(), 1, 'it was paused once');
    await rows.getByRole('link', {name: this.given.monitor.name}).click();
    await this.badge('active');
  }

  // What is not on the page of one organisation: the suppression list, and the keys that seal secrets.
  async keepPrivate() {
    const dialog = this.page.getByRole('dialog');
    const confirm = name => dialog.getByRole('button', {name, exact: true}).click();
    await this.page.getByRole('link', {name: 'Privacy', exact: true}).click();
    await this.main('Everybody may be looked up.');
    await this.button('Let nobody look up').click();
    await dialog.getByLabel('An address').fill('ada@private.example');
    await this.look('suppress');
    await confirm('Let nobody look up');
    assert(await dialog.isVisible(), 'nobody is listed without a reason');
    await dialog.getByLabel('Reason').fill('asked us to');
    await confirm('Let nobody look up');
    await this.main('The address is on the list.');
    const listed = this.page.getByRole('region', {name: 'Whom nobody looks up'});
    await listed.getByText('asked us to').waitFor();
    assert(!(await this.page.locator('main').innerText()).includes('ada@'), 'the list names nobody');
    assert.equal(await this.button('Erase a person').getAttribute('class'), 'final');
    await this.button('Count what an erasure reaches').click();
    await dialog.getByLabel('The person\'s address').fill('nobody@private.example');
    await confirm('Count');
    await this.main(/^An erasure would take out: 0 facts, 0 rows of 0 jobs, 0 findings/);
    await this.look('privacy');
    await this.page.getByRole('link', {name: 'Keys', exact: true}).click();
    await this.main('present');
    await this.button('Seal again with the present key').click();
    await confirm('Seal again');
    await this.main(/^0 sealed again/);
    await this.look('keys');
  }

  // One overview of all cells, of which one is silent, and one search, which leads to the console of the right one.
  async seeTheCells() {
    const {there, other, silent} = this.given;
    await this.page.getByRole('link', {name: 'Cells', exact: true}).click();
    const row = name => this.page.getByRole('region', {name: 'Cells'}).getByRole('row').filter({has: this.page.getByRole('link', {name, exact: true})});
    await row('the first').getByText('(this one)').waitFor();
    await row('c2').getByText('answers', {exact: true}).waitFor();
    assert.equal(await row('c2').getByRole('link').getAttribute('href'), `${other}/#/`);
    await row(silent).getByText('no answer').waitFor();
    assert.match(await row(silent).innerText(), /timeout/);
    await this.age(/^shown as it was/);
    await this.page.getByLabel('Name, external id or id').fill('there');
    await this.button('Show').click();
    const found = this.page.getByRole('region', {name: 'Organisations'}).getByRole('row', {name: /^c2/});
    await found.waitFor();
    await this.page.getByRole('alert').getByText(`Cell ${silent} was not searched: timeout`).waitFor();
    assert.equal(await this.page.getByRole('region', {name: 'Organisations'}).locator('tbody tr').count(), 1);
    await this.look('cells');
    await this.page.setViewportSize(PHONE);
    await this.look('cells-phone', ['light']);
    await this.page.setViewportSize(DESKTOP);
    // The other console wants a token of its own.
    await found.getByRole('link', {name: there.name}).click();
    await this.page.waitForURL(`${other}/#/organisations/${there.id}`);
    await this.page.getByLabel('One of the tokens').fill(this.given.token);
    await this.button('Open').click();
    await this.page.getByRole('heading', {name: there.name}).waitFor();
    this.problems = this.problems.filter(said => !said.startsWith(`asks elsewhere: ${other}`));
  }

  // Each page offers each role what it may do, and says by whose token.
  // At the provider's own pages, which are elsewhere, and ask for a font.
  async signInAs(email) {
    await this.button(`Sign in with ${this.given.provider}`).click();
    await this.page.locator('input[name=login]').fill(email);
    await this.page.locator('input[name=password]').fill('anything');
    await this.page.locator('button[type=submit]').click();
    await this.page.getByRole('button', {name: 'Continue'}).click();
    await this.page.waitForURL(url => url.href.startsWith(this.given.url));
    await this.page.locator('main h2').first().waitFor();
    this.problems.length = 0;
  }

  // The next person at this browser: the provider remembers nobody.
  async signOutAs(name) {
    await this.page.locator('#who', {hasText: name}).waitFor();
    await this.button('Sign out').click();
    await this.page.getByLabel('One of the tokens').waitFor();
    await this.page.context().clearCookies();
  }

  async session() {
    return (await this.page.context().cookies(this.given.url)).find(one => one.name === '__Host-vedette-console');
  }

  async signInAsEachRole() {
    const {url, monitor, provider} = this.given;
    await this.go('');
    await this.button(`Sign in with ${provider}`).waitFor();
    await this.look('sign-in');
    // A claim without a role.
    await this.signInAs('nobody+guests@example.com');
    await this.page.getByRole('alert').getByText('have no role here').waitFor();
    await this.look('sign-in-without-a-role');
    assert.equal(await this.session(), undefined);
    await this.page.context().clearCookies();
    // A state that nobody here has asked for.
    await this.page.goto(`${url}/console/callback?code=x&state=forged`);
    await this.page.getByRole('alert').getByText('begun in another browser').waitFor();

    await this.signInAs('viola+staff@example.com');
    await this.page.locator('#who', {hasText: 'viola+staff@example.com (viewer)'}).waitFor();
    const first = await this.session();
    assert.deepEqual([first.httpOnly, first.secure, first.sameSite], [true, true, 'Strict']);
    assert.equal(await this.page.evaluate(() => document.cookie + sessionStorage.length + localStorage.length), '00');
    await this.page.reload();
    await this.page.getByRole('heading', {name: 'Overview'}).waitFor();
    await this.go(`#/monitors/${monitor.id}`);
    await this.badge('active');
    assert.equal(await this.button('Pause').count(), 0, 'a viewer is not offered it');
    await this.look('sign-in-viewer');
    await this.go(`#/monitors/${monitor.id}/change`);
    await this.main('viola+staff@example.com has the role viewer');
    // The cookie does not come with a form of another site, and if it did, the header would be missing.
    const path = `/admin/v1/monitors/${monitor.id}/pause`;
    const elsewhere = await this.page.context().newPage();
    await elsewhere.goto(`http://${provider}/counts`);
    const posted = this.page.context().waitForEvent('response', answer => answer.url().endsWith(path));
    await elsewhere.evaluate(to => {
      const form = document.createElement('form');
      Object.assign(form, {method: 'POST', action: to});
      document.body.append(form);
      form.submit();
    }, url + path);
    assert.ok([401, 403].includes((await posted).status()));
    await elsewhere.close();
    assert.equal(await this.page.evaluate(to => fetch(to, {method: 'POST'}).then(answer => answer.status), path), 403);
    this.problems.length = 0;
    await this.signOutAs('viola');
    const old = await fetch(`${url}/admin/v1/me`, {headers: {cookie: `${first.name}=${first.value}`}});
    assert.equal(old.status, 401, 'the session has ended at the server');

    await this.signInAs('olli+staff+on-call@example.com');
    await this.page.locator('#who', {hasText: '(operator)'}).waitFor();
    assert.notEqual((await this.session()).value, first.value);
    await this.go(`#/monitors/${monitor.id}`);
    await this.button('Pause').click();
    await this.page.getByRole('dialog').getByLabel('Reason').fill('the site asked');
    await this.page.getByRole('dialog').getByRole('button', {name: 'Pause', exact: true}).click();
    await this.badge('paused');
    await this.go('#/keys');
    await this.page.getByRole('heading', {name: 'Encryption keys'}).waitFor();
    assert.equal(await this.button('Seal again with the present key').count(), 0);
    await this.signOutAs('olli');

    await this.signInAs('ada+root+staff@example.com');
    await this.page.locator('#who', {hasText: '(admin)'}).waitFor();
    await this.go('#/keys');
    await this.button('Seal again with the present key').waitFor();
    // A session that has ended elsewhere.
    await this.page.context().clearCookies();
    await this.button('Refresh').click();
    await this.page.getByRole('alert').getByText('Your session has ended').waitFor();
  }

  async seeWhatEachRoleIsOffered() {
    const {monitor, organisationId, roles} = this.given;
    const ranks = ['viewer', 'operator', 'admin'];
    const pages = {
      overview: ['', {'Drain this process': 'operator'}],
      monitor: [`monitors/${monitor.id}`, {Pause: 'operator', 'Check now': 'operator', 'Change this monitor': 'operator'}],
      organisation: [`organisations/${organisationId}`, {
        'Book credits': 'admin', Lock: 'admin', 'New API key': 'admin', 'New team': 'admin', 'New OAuth client': 'admin',
        'New session': 'admin', 'make a new monitor': 'operator', 'Download as CSV': 'viewer'}],
      organisations: ['organisations', {'New organisation': 'admin'}],
      channels: [`organisations/${organisationId}/channels`, {'New channel': 'operator'}],
      dead: ['deliveries?state=dead', {'Replay all dead of every organisation': 'operator'}],
      privacy: ['privacy', {'Let nobody look up': 'operator', 'Take off the list': 'admin', 'Erase a person': 'admin'}],
      keys: ['keys', {'Seal again with the present key': 'admin'}],
      audit: ['audit', {Show: 'viewer'}],
    };
    for (const [role, token] of Object.entries(roles)) {
      await this.go('');
      await this.page.getByLabel('One of the tokens').fill(token);
      await this.button('Open').click();
      await this.page.locator('#who', {hasText: `(${role})`}).waitFor();
      for (const [name, [hash, offered]] of Object.entries(pages)) {
        await this.go(`#/${hash}`);
        await this.page.locator('main h2').first().waitFor();
        await this.page.getByText('Loading …').waitFor({state: 'hidden'});
        for (const [what, needed] of Object.entries(offered)) {
          const shown = this.page.locator('main :is(a, button)').getByText(what, {exact: true});
          if (ranks.indexOf(role) >= ranks.indexOf(needed)) await shown.first().waitFor();
          else assert.equal(await shown.count(), 0, `${role} is offered "${what}"`);
        }
        await this.look(`role-${role}-${name}`, role === 'viewer' ? ['dark', 'light'] : ['light']);
      }
      await this.go(`#/monitors/${monitor.id}/change`);
      await (role === 'viewer' ? this.main('This needs the role operator') : this.button('Change it').waitFor());
      await this.button('Forget token').click();
    }
  }
}

async function main() {
  const given = JSON.parse(fs.readFileSync(0, 'utf8'));
  const {chromium} = require(path.join(given.modules, 'playwright-core'));
  const context = await chromium.launchPersistentContext(given.profile, {
    executablePath: given.chromium, args: ARGUMENTS, viewport: DESKTOP, colorScheme: 'light'});
  context.setDefaultTimeout(WAIT_MS);
  const page = context.pages()[0] ?? await context.newPage();
  const operator = new Operator(page, given);
  let step = '';
  try {
    for (step of given.steps ?? ['logIn', 'seeTheFleet', 'seeHowOldItIs', 'terminate', 'seeARun', 'letAWorkflowRunByItself', 'seeWhatMailServersSay', 'findMonitor', 'pauseAndResume', 'seeHostileEvents',
                  'seeChanges', 'seeATick', 'replay', 'makeAnOrganisation', 'makeAMonitor', 'makeAChannel',
                  'keepPrivate', 'seeTheRest', 'onAPhone', 'byKeyboard', 'leave']) {
      await operator[step]();
      assert.deepEqual(operator.problems, [], step);
    }
  } catch (error) {
    await operator.shot(`failed-${step}`).catch(() => {});
    error.message = `${step}: ${error.message}; the browser said: ${operator.problems.join(' | ')}`;
    throw error;
  } finally {
    await context.close();
  }
  console.log(JSON.stringify({done: true}));
}

main();
