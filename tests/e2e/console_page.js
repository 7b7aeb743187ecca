// The console in a browser, whichever of its pages is shown: what a look at one checks, how an operator comes and goes,
// how old it says it is, a small screen and the keyboard.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');

const WAIT_MS = 30000;
const PHONE = {width: 390, height: 844};
const DESKTOP = {width: 1280, height: 900};

class Console {
  constructor(page, given) {
    this.page = page;
    this.given = given;
    this.problems = [];
    this.axe = fs.readFileSync(path.join(given.modules, 'axe-core', 'axe.min.js'), 'utf8');
    page.on('console', message => {
      // What the browser says itself of the login with a wrong token, of a form that is refused, and of what is not there.
      if (message.type() === 'error' && !/status of (400|401|404|422)/.test(message.text())) this.problems.push(message.text());
    });
    page.on('pageerror', error => this.problems.push(`exception: ${error.message}`));
    page.on('request', request => {
      if (!request.url().startsWith(given.url)) this.problems.push(`asks elsewhere: ${request.url()}`);
    });
    page.on('dialog', dialog => {
      this.problems.push(`a script of a stranger spoke: ${dialog.message()}`);
      dialog.dismiss();
    });
  }

  go(hash) { return this.page.goto(`${this.given.url}/${hash}`); }
  main(text) { return this.page.locator('main').getByText(text).first().waitFor(); }
  button(name) { return this.page.getByRole('button', {name, exact: true}); }
  badge(text) { return this.page.locator('h2 .badge', {hasText: text}).waitFor(); }
  // The rows of a list in which a filter finds one; the list that was there before may have more.
  async onlyRow() {
    const rows = this.page.locator('main tbody tr');
    await rows.nth(1).waitFor({state: 'detached'});
    await rows.first().waitFor();
    assert.equal(await rows.count(), 1, 'the filter finds one');
    return rows;
  }
  async age(text) { await this.page.locator('#age', {hasText: text}).waitFor(); }
  async shot(name) {
    if (this.given.screenshots) await this.page.screenshot({path: path.join(this.given.screenshots, `${name}.png`), fullPage: true});
  }

  // The page as it is: accessible, nothing of what strangers wrote became markup, nothing wider than the screen.
  async look(name, colorSchemes = ['dark', 'light']) {
    await this.page.evaluate(this.axe);
    for (const colorScheme of colorSchemes) {
      await this.page.emulateMedia({colorScheme});
      // Nothing but colours differs from the scheme before.
      const only = colorScheme === colorSchemes[0] ? {} : {runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}};
      const {violations} = await this.page.evaluate(options => axe.run({...options, resultTypes: ['violations']}), only);
      assert.deepEqual(violations.map(v => `${name}, ${v.id}: ${v.nodes.map(n => n.html).join(' ')}`), [], colorScheme);
    }
    assert.equal(await this.page.locator('main :is(script, img, iframe, object, style, link)').count(), 0, name);
    const wider = await this.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert(wider <= 0, `${name} is ${wider} px wider than the screen`);
    await this.shot(name);
  }

  // The Tab key comes to everything that can be used, and what it comes to has a ring.
  async tabThrough(name) {
    const stops = await this.page.evaluate(() => {
      document.querySelector('.skip').focus();
      window.reached = new Set([document.activeElement]);
      window.ringless = [];
      window.onReach = ({target}) => {
        window.reached.add(target);
        if (getComputedStyle(target).outlineStyle === 'none') window.ringless.push(target.outerHTML.slice(0, 200));
      };
      document.addEventListener('focusin', window.onReach);
      // The fields of a date are several stops.
      return document.querySelectorAll('a, button, input, select, textarea, summary, [tabindex]').length
        + 4 * document.querySelectorAll('input[type=date]').length;
    });
    for (let n = 0; n < stops; ++n) await this.page.keyboard.press('Tab');
    const {missed, ringless} = await this.page.evaluate(() => {
      document.removeEventListener('focusin', window.onReach);
      const usable = [...document.querySelectorAll('a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary')];
      return {missed: usable.filter(one => one.checkVisibility() && !window.reached.has(one)).map(one => one.outerHTML.slice(0, 200)),
              ringless: window.ringless};
    });
    assert.deepEqual(missed, [], `${name} by the keyboard`);
    assert.deepEqual(ringless, [], `${name} by the keyboard`);
  }

  async ask(path) {
    const answer = await fetch(`${this.given.url}/admin/v1${path}`, {headers: {Authorization: `Bearer ${this.given.token}`}});
    assert.equal(answer.status, 200, path);
    return answer.json();
  }

  async newestTick(id) { return (await this.ask(`/monitors/${id}`)).ticks[0]?.tick_id ?? 0; }

  async moreTicks(id, n) {
    let last = await this.newestTick(id);
    for (const end = Date.now() + WAIT_MS; n > 0;) {
      assert(Date.now() < end, 'no further tick');
      const now = await this.newestTick(id);
      if (now !== last) --n;
      last = now;
      await new Promise(soon => setTimeout(soon, 50));
    }
  }

  async logIn() {
    await this.go('');
    await this.page.getByLabel('One of the tokens').fill('not a token');
    await this.button('Open').click();
    await this.page.getByRole('alert').getByText('That token is not one of them').waitFor();
    assert.match(await this.page.title(), /^Log in/);
    const ring = await this.page.getByLabel('One of the tokens').evaluate(input =>
      input.getBoundingClientRect().top - document.querySelector('label[for=token]').getBoundingClientRect().bottom);
    assert(ring > 4, 'the focus ring of a field leaves its label alone');
    await this.look('login');
    await this.page.getByLabel('One of the tokens').fill(this.given.token);
    await this.page.keyboard.press('Enter');
    await this.page.getByRole('heading', {name: 'Overview'}).waitFor();
  }

  // While nothing answers, what is shown says how old it is; times can be shown as they are.
  async seeHowOldItIs() {
    const context = this.page.context();
    await context.setOffline(true);
    const problem = this.page.getByRole('alert').getByText('cannot be reached');
    await problem.waitFor();
    await this.age(/^shown as it was ([3-9]|\d\d+) s ago/);
    await context.setOffline(false);
    await problem.waitFor({state: 'hidden'});
    await this.age(/^shown as it was (\d+ ms|[0-3] s) ago/);
    this.problems = this.problems.filter(said => !/ERR_INTERNET_DISCONNECTED/.test(said));
    await this.go('#/monitors');
    const time = this.page.locator('main time').first();
    await time.waitFor();
    await this.button('Exact times').click();
    assert.match(await time.innerText(), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    assert.equal(await this.button('Exact times').getAttribute('aria-pressed'), 'true');
    await this.look('exact-times');
    await this.button('Exact times').click();
    assert.match(await time.innerText(), /ago$|^in /);
    await this.button('Refresh').click();
    await this.page.getByText('Loading …').waitFor({state: 'hidden'});
    await this.age(/^shown as it was/);
    await this.go('#/monitors/00000000-0000-7000-8000-000000000000');
    await this.page.getByRole('heading', {name: 'That did not work'}).waitFor();
    assert.match(await this.page.title(), /^That did not work/);
    await this.look('not-there');
  }

  async onAPhone() {
    const {monitor} = this.given;
    await this.page.setViewportSize(PHONE);
    const pages = {overview: '', monitors: 'monitors', monitor: `monitors/${monitor.id}`, change: `monitors/${monitor.id}/change`, events: `monitors/${monitor.id}/rows/${this.given.row}`,
                   jobs: 'jobs', job: `jobs/${this.given.job}`, runs: 'runs', run: `runs/${this.given.run}`, email: 'email', deliveries: 'deliveries?state=delivered', organisations: 'organisations',
                   changes: 'changes', privacy: 'privacy', keys: 'keys', audit: 'audit'};
    for (const [name, hash] of Object.entries(pages)) {
      await this.go(`#/${hash}`);
      await this.page.locator('main h2').first().waitFor();
      await this.page.getByText('Loading …').waitFor({state: 'hidden'});
      if (name === 'overview') await this.page.locator('.plot canvas').first().waitFor();
      await this.look(`${name}-phone`, ['light']);  // the colours are those of the wide page
    }
  }

  async byKeyboard() {
    await this.page.setViewportSize(DESKTOP);
    await this.go('#/monitors');
    await this.page.reload();  // where the keyboard begins is not where the last click was
    await this.page.getByRole('heading', {name: 'Monitors'}).waitFor();
    await this.page.keyboard.press('Tab');
    assert.equal(await this.page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
    await this.page.keyboard.press('Tab');
    for (const name of ['vedette', 'Overview', 'Monitors']) {
      assert.equal(await this.page.evaluate(() => document.activeElement.textContent), name);
      await this.page.keyboard.press('Tab');
    }
  }

  async leave() {
    const forget = async () => {
      await this.button('Forget token').click();
      await this.page.getByLabel('One of the tokens').waitFor();
      assert.equal(await this.page.evaluate(() => sessionStorage.length + localStorage.length), 0);
    };
    const inAnotherTab = async seen => {
      const tab = await this.page.context().newPage();
      await tab.goto(this.given.url);
      await seen(tab).waitFor();
      return tab;
    };
    await (await inAnotherTab(tab => tab.getByLabel('One of the tokens'))).close();
    await forget();
    // By choice the token is there in other tabs, and forgotten in all of them at once.
    await this.page.getByLabel('One of the tokens').fill(this.given.token);
    await this.page.getByLabel('Keep it in this browser').check();
    await this.button('Open').click();
    await this.page.getByRole('heading', {name: 'Monitors'}).waitFor();
    const tab = await inAnotherTab(page => page.getByRole('heading', {name: 'Overview'}));
    await forget();
    await tab.getByText('forgotten in another tab').waitFor();
    await tab.close();
  }
}

module.exports = {Console, DESKTOP, PHONE, WAIT_MS};
