// Signs in at the dashboard by each way there is, in a headless Chromium with a virtual authenticator. What it needs comes as
// JSON on standard input.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const {Console, DESKTOP, PHONE, WAIT_MS} = require('./console_page.js');

const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
                   '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const PASSWORD = 'correct horse battery';

class Person extends Console {
  at(hash) { return this.page.goto(`${this.given.url}/dashboard#/${hash}`); }
  title(text) { return this.page.locator('h2', {hasText: text}).first().waitFor(); }
  said(text) { return this.page.locator('#said', {hasText: text}).waitFor(); }
  field(label) { return this.page.getByLabel(label, {exact: true}); }

  // In both colours on a phone, and by the keyboard alone.
  async see(name) {
    await this.look(name, ['light']);
    await this.page.emulateMedia({colorScheme: 'dark'});
    await this.shot(`${name}-dark`);
    await this.page.setViewportSize(PHONE);
    await this.look(`${name}-phone`);
    await this.tabThrough(name);
    await this.page.setViewportSize(DESKTOP);
  }

  async haveADevice(cdp) {
    await cdp.send('WebAuthn.enable');
    const {authenticatorId} = await cdp.send('WebAuthn.addVirtualAuthenticator', {options: {
      protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
      automaticPresenceSimulation: true}});
    this.user = isUserVerified => cdp.send('WebAuthn.setUserVerified', {authenticatorId, isUserVerified});
    this.passkeys = async () => (await cdp.send('WebAuthn.getCredentials', {authenticatorId})).credentials;
  }

  async joinByPasskey() {
    await this.at(this.given.invitations.owner);
    await this.title('Join Tests');
    await this.see('dashboard-join');
    await this.button('Join with a new passkey instead').click();
    await this.title('Overview');
    const [made] = await this.passkeys();
    assert.equal(made.rpId, 'localhost');
    assert.equal(made.isResidentCredential, true);
  }

  async leave() {
    await this.button('Sign out').click();
    await this.title('Sign in');
  }

  async signInByPasskey() {
    await this.leave();
    await this.see('dashboard-ways-in');
    await this.button('Sign in with a passkey').click();
    await this.title('Overview');
    await this.leave();
    await this.field('E-mail address').fill('viewer@example.com');
    await this.button('Sign in with a passkey').click();
    await this.said('none that is known here');
    await this.user(false);
    await this.field('E-mail address').fill('owner@example.com');
    await this.button('Sign in with a passkey').click();
    await this.said('has given no passkey');
    await this.user(true);
    await this.button('Sign in with a passkey').click();
    await this.title('Overview');
  }

  async changeTheWays() {
    await this.at('ways');
    await this.title('Signing in');
    await this.see('dashboard-ways');
    await this.field('Name').fill('the same device');
    await this.button('Add a passkey').click();
    await this.page.getByRole('alert').getByText('a passkey of yours already').waitFor();
    const row = this.page.getByRole('row', {name: /^Passkey/});
    const remove = async () => {
      await row.getByRole('button', {name: 'Remove'}).click();
      await row.getByRole('button', {name: 'Remove it?'}).click();
    };
    await remove();
    await this.said('set a password');
    await this.field('New password').fill(PASSWORD);
    await this.button('Set a password').click();
    await this.button('Change the password').waitFor();
    await remove();
    await this.main('You have none.');
  }

  async limitAndReset() {
    await this.at('members');
    await this.title('Members');
    await this.see('dashboard-members-and-teams');
    const row = this.page.getByRole('row', {name: /^viewer@/});
    await row.getByLabel('Team').selectOption({label: this.given.team});
    await this.said('Changed.');
    // An owner is of no team.
    await row.getByLabel('Role').selectOption('owner');
    await this.page.locator('tr', {hasText: 'viewer@'}).getByLabel('Team').and(this.page.locator(':has(option:checked[value=""])')).waitFor();
    // Neither change waits for the other's answer; the table is read again behind both.
    await row.evaluate(now => now.setAttribute('data-before', ''));
    await row.getByLabel('Role').selectOption('viewer');
    await row.getByLabel('Team').selectOption({label: this.given.team});
    await this.page.locator('tr:not([data-before])', {hasText: 'viewer@'}).waitFor();
    await row.getByRole('button', {name: 'New password'}).click();
    await row.getByRole('button', {name: /^Make a link/}).click();
    const link = await this.page.locator('.once code').innerText();
    await this.leave();
    await this.page.goto(link);
    await this.title('A new password');
    await this.see('dashboard-reset');
    await this.field('New password').fill('another battery staple');
    await this.button('Set it').click();
    await this.main('It is set.');
    await this.page.getByRole('link', {name: 'Sign in'}).click();
    await this.field('E-mail address').fill('viewer@example.com');
    await this.field('Password').fill('another battery staple');
    await this.button('Sign in').click();
    await this.title('Overview');
    await this.page.locator('#who', {hasText: this.given.team}).waitFor();
    await this.leave();
  }

  async joinAsViewer() {
    await this.leave();
    await this.at(this.given.invitations.viewer);
    await this.field('A password for the next time').fill(PASSWORD);
    await this.button('Join').click();
    await this.title('Overview');
    await this.leave();
    await this.field('E-mail address').fill('owner@example.com');
    await this.field('Password').fill(PASSWORD);
    await this.button('Sign in').click();
    await this.title('Overview');
  }

  async joinAnother() {
    await this.at(this.given.invitations.other);
    await this.title('Join Others');
    await this.field('Your password').fill(PASSWORD);
    await this.button('Join').click();
    await this.page.locator('#who', {hasText: 'owner of Others'}).waitFor();
    await this.leave();
  }

  // The removal of the last passkey is refused on purpose.
  seeNoProblems() { assert.deepEqual(this.problems.filter(text => !/status of 409/.test(text)), []); }

  async signInAtTheProvider() {
    await this.at('sorry/unknown');
    await this.page.reload();
    await this.see('dashboard-sorry');
    await this.button(`Sign in with ${this.given.provider}`).click();
    await this.page.locator('input[name=login]').fill('owner@example.com');
    await this.page.locator('input[name=password]').fill('anything');
    await this.page.locator('button[type=submit]').click();
    await this.page.getByRole('button', {name: 'Continue'}).click();
    await this.title('Which organisation?');
    await this.see('dashboard-choose-behind-the-provider');
    await this.button('Tests, as owner').click();
    await this.title('Overview');
    this.problems.length = 0;  // the provider's own pages are elsewhere, and ask for a font
    await this.page.locator('#who', {hasText: 'owner@example.com'}).waitFor();
    const cookies = await this.page.context().cookies(this.given.url);
    // The cookie of the choice is spent, and ends by itself.
    assert.deepEqual(cookies.map(one => [one.name, one.sameSite]).sort(), [['__Host-vedette', 'Strict'], ['__Host-vedette-choice', 'Strict']]);
  }

  async seeAttempts() {
    await this.at('deliveries');
    await this.title('Deliveries');
    await this.page.locator('td details summary').first().click();
    await this.page.locator('.tries li').first().waitFor();
    await this.see('dashboard-attempts');
  }
}

async function main() {
  const given = JSON.parse(fs.readFileSync(0, 'utf8'));
  const {chromium} = require(path.join(given.modules, 'playwright-core'));
  const context = await chromium.launchPersistentContext(given.profile, {
    executablePath: given.chromium, args: ARGUMENTS, viewport: DESKTOP, colorScheme: 'light'});
  context.setDefaultTimeout(WAIT_MS);
  await context.route(url => !['localhost', '127.0.0.1'].includes(url.hostname), route => route.abort());
  const page = context.pages()[0] ?? await context.newPage();
  const person = new Person(page, given);
  try {
    await person.haveADevice(await context.newCDPSession(page));
    await person.joinByPasskey();
    await person.signInByPasskey();
    await person.changeTheWays();
    await person.joinAsViewer();
    await person.limitAndReset();
    await person.joinAnother();
    person.seeNoProblems();
    await person.signInAtTheProvider();
    await person.seeAttempts();
    person.seeNoProblems();
  } catch (error) {
    await person.shot('failed-sign-in').catch(() => {});
    throw error;
  } finally {
    await context.close();
  }
}

main();
