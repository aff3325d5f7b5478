// SPDX-License-Identifier: Apache-2.0
// Uses the dashboard of a running broker as a person would: node dashboard.mjs SCENARIO, with a JSON object on standard input.
// A wrong result ends it with a message and status 1.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import { chromium } from 'playwright-core'

const given = JSON.parse(await text(process.stdin))
const { url, token, chromium: executablePath } = given
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const PATIENCE = 60_000
const PICTURED = 40_000 // the time that the curves of a picture have

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
const faults = []

/** A tab whose errors, dialogs and requests to elsewhere are faults. */
async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US', ...options })
  context.setDefaultTimeout(PATIENCE)
  const tab = await context.newPage()
  tab.on('pageerror', error => faults.push(`error: ${error.message}`))
  tab.on('dialog', dialog => {
    faults.push(`a dialog was opened: ${dialog.message()}`)
    void dialog.dismiss()
  })
  tab.on('console', message => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(message.text())
  })
  tab.on('request', request => {
    if (new URL(request.url()).origin !== new URL(url).origin) faults.push(`a request to elsewhere: ${request.url()}`)
  })
  return tab
}

async function signIn(tab, { user, password } = {}, title = 'Overview') {
  await tab.goto(url)
  if (user) {
    await tab.getByLabel('User name').fill(user)
    await tab.getByLabel('Password').fill(password)
  } else {
    await tab.getByRole('button', { name: 'Use the management token' }).click()
    await tab.getByLabel('Management token').fill(token)
  }
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await tab.getByRole('heading', { level: 1, name: title }).waitFor()
}

const tile = (tab, label) => tab.locator('.tile', { hasText: label }).locator('strong')

/** Waits until the text of an element is as expected. */
async function until(locator, expected) {
  await locator.filter({ hasText: expected }).waitFor()
}

async function pagesOf(tab) {
  return tab.locator('nav#menu a').evaluateAll(links => links.map(link => link.getAttribute('href')))
}

/** Shows a page, and waits until its lists are there. */
async function show(tab, href) {
  await tab.evaluate(hash => (location.hash = hash), href)
  const item = href.split('/').slice(0, 2).join('/')
  await tab.locator(`nav#menu a[aria-current=page][href="${item}"]`).waitFor({ state: 'attached' })
  await tab.waitForFunction(() => ![...document.querySelectorAll('.empty')].some(one => one.textContent.endsWith('…')))
}

/** Runs axe-core beside the page: its own policy would not let it in. */
async function violations(tab) {
  const protocol = await tab.context().newCDPSession(tab)
  const { frameTree } = await protocol.send('Page.getFrameTree')
  const world = await protocol.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id, worldName: 'axe' })
  const contextId = world.executionContextId
  await protocol.send('Runtime.evaluate', { expression: AXE, contextId })
  const { result } = await protocol.send('Runtime.evaluate', {
    contextId,
    awaitPromise: true,
    expression: `axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(found =>
      JSON.stringify(found.violations.map(one => [one.id, one.nodes.map(node => node.html.slice(0, 200))])))`,
  })
  await protocol.detach()
  return JSON.parse(result.value)
}

const scenarios = {
  /** A wrong token is refused; the right one shows the overview, live, in three languages. */
  async overview() {
    const tab = await open()
    await tab.goto(url)
    await tab.getByRole('button', { name: 'Use the management token' }).click()
    await tab.getByLabel('Management token').fill('not-the-token-of-it')
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await tab.getByRole('alert').filter({ hasText: '401' }).waitFor()
    await signIn(tab)
    await until(tile(tab, 'Connected'), String(given.clients))
    await tab.getByLabel('Language').selectOption('de')
    await tab.getByRole('heading', { level: 1, name: 'Übersicht' }).waitFor()
    await tab.getByLabel('Sprache').selectOption('zh')
    await tab.getByRole('heading', { level: 1, name: '概览' }).waitFor()
    assert.equal(await tab.evaluate(() => document.documentElement.lang), 'zh')
  },

  /** What one tab publishes another one receives, and shows as text. */
  async tool() {
    const [one, two] = [await open(), await open()]
    for (const tab of [one, two]) {
      await signIn(tab)
      await show(tab, '#/tool')
      await tab.getByLabel('URL').fill(given.webSocket)
      await tab.getByRole('button', { name: 'Connect', exact: true }).click()
      await until(tab.locator('.badge'), 'Connected')
    }
    const subscribe = two.getByRole('form', { name: 'Subscribe' })
    await subscribe.getByLabel('Topic filter').fill('tool/#')
    await subscribe.getByRole('button', { name: 'Subscribe' }).click()
    await until(two.locator('.chips li'), 'tool/#')
    const payload = '<img src=x onerror=alert(1)>'
    const publish = one.getByRole('form', { name: 'Publish' })
    await publish.getByLabel('Topic').fill('tool/<b>\u202etxt')
    await publish.getByLabel('Payload').fill(payload)
    await publish.getByRole('button', { name: 'Publish' }).click()
    const row = two.getByRole('row').filter({ hasText: payload })
    await row.waitFor()
    assert.match(await row.innerText(), /tool\/<b>\\u\{202e\}txt/)
    assert.equal(await two.locator('main img').count(), 0)
  },

  /** The first administrator changes the password, and makes a viewer, who may look and nothing else. */
  async roles() {
    const [password, looks] = ['a longer password of admin', 'a longer password of eve']
    const tab = await open()
    await signIn(tab, { user: 'admin', password: given.firstPassword }, 'Own password')
    await tab.getByLabel('Old password').fill(given.firstPassword)
    await tab.getByLabel('New password').fill(password)
    await tab.getByRole('button', { name: 'Change password' }).click()
    await tab.getByText('The password has been changed').waitFor()
    await signIn(tab, { user: 'admin', password })
    await show(tab, '#/users')
    const form = tab.getByRole('form', { name: 'Add user' })
    await form.getByLabel('User name').fill('eve')
    await form.getByLabel('Password').fill(looks)
    await form.getByRole('button', { name: 'Add user' }).click()
    await tab.getByRole('row').filter({ hasText: 'eve' }).waitFor()

    const viewer = await open()
    await signIn(viewer, { user: 'eve', password: looks })
    const pages = await pagesOf(viewer)
    assert.ok(pages.includes('#/history'))
    for (const href of ['#/users', '#/audit', '#/configuration']) assert.ok(!pages.includes(href), href)
    await show(tab, '#/clients')
    await tab.getByRole('button', { name: 'Kick' }).waitFor()
    for (const href of [...pages, '#/clients/one']) {
      await show(viewer, href)
      for (const name of ['Kick', 'Delete', 'Ban', 'Stop', 'Unsubscribe']) {
        assert.equal(await viewer.getByRole('button', { name, exact: true }).count(), 0, `${name} on ${href}`)
      }
    }
    const statuses = await viewer.evaluate(async () => {
      const Authorization = `Bearer ${JSON.parse(sessionStorage.getItem('smqtt.session')).token}`
      const ask = (method, path) => fetch(`/api/v5/${path}`, { method, headers: { Authorization } })
      return [(await ask('GET', 'users')).status, (await ask('DELETE', 'users/admin')).status, (await ask('GET', 'monitor')).status]
    })
    assert.deepEqual(statuses, [403, 403, 200])

    await show(tab, '#/audit')
    await tab.getByRole('row').filter({ hasText: 'POST /users' }).first().waitFor()
  },

  /** One client among many is found and kicked, with the keyboard alone. */
  async clients() {
    const tab = await open()
    await signIn(tab)
    await show(tab, '#/clients')
    await tab.getByText(`· ${given.clients.toLocaleString('en')} entries`).waitFor()
    const first = await tab.getByRole('row').nth(1).innerText()
    await tab.getByRole('button', { name: 'Next' }).click()
    await tab.waitForFunction(text => document.querySelector('tbody tr')?.innerText !== text, first)
    await tab.getByLabel('Client identifier').focus()
    await tab.keyboard.type(given.wanted)
    await tab.keyboard.press('Enter')
    await tab.getByText('· 1 entries').waitFor()
    const row = tab.getByRole('row').filter({ hasText: given.wanted })
    await row.getByRole('link').focus()
    await tab.keyboard.press('Enter')
    await tab.getByRole('row').filter({ hasText: 'fleet/a' }).waitFor()
    await tab.goBack()
    await row.getByRole('button', { name: 'Kick' }).focus()
    await tab.keyboard.press('Enter')
    const dialog = tab.getByRole('dialog')
    await until(dialog, given.wanted)
    await tab.keyboard.press('Tab')
    await until(tab.locator(':focus'), 'Kick')
    await tab.keyboard.press('Enter')
    await tab.getByText('No entries.').waitFor()
  },

  /** Names that are markup, turn the text around, are long or stand for a folder are shown as text and can be kicked. */
  async hostile() {
    const tab = await open()
    await signIn(tab)
    const markup = '<img src=x onerror=alert(1)>'
    for (const href of ['#/clients', '#/subscriptions', '#/topics', '#/retained']) {
      await show(tab, href)
      for (const text of [markup, '\\u{202e}']) await tab.getByText(text).first().waitFor()
      assert.equal(await tab.locator('main img').count(), 0, href)
      assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), href)
    }
    await show(tab, '#/retained')
    await until(tab.locator('main'), '(65,000)')
    await tab.getByRole('row').filter({ hasText: markup }).getByRole('button', { name: 'Show' }).click()
    await until(tab.locator('pre'), '<script>alert(2)</script>')
    for (const name of [markup, 'a/b?c#d%2e']) {
      await show(tab, '#/clients')
      await tab.getByRole('link', { name, exact: true }).click()
      await until(tab.locator('.facts').first(), '127.0.0.1')
      await until(tab.locator('.crumbs'), name)
    }
    await show(tab, '#/topics')
    await tab.getByLabel('Topic', { exact: true }).fill(`${markup}/x`)
    await tab.getByRole('button', { name: 'Explain' }).click()
    await tab.getByRole('row').filter({ hasText: markup }).filter({ hasText: 'Sent' }).waitFor()
    await show(tab, '#/clients')
    for (const name of [markup, 'a/b?c#d%2e', '..', /^i+… \(65,000\)$/]) {
      const row = tab.getByRole('row').filter({ has: tab.getByRole('link', { name, exact: true }) })
      await row.getByRole('button', { name: 'Kick' }).click()
      await tab.getByRole('dialog').getByRole('button', { name: 'Kick' }).click()
      await row.waitFor({ state: 'detached' })
    }
  },

  /** A client is banned on its page, and the ban is lifted; a shared group shows what waits for it; rules for topics are added and deleted. */
  async bans() {
    const tab = await open()
    await signIn(tab)
    await show(tab, '#/clients/one')
    await tab.getByRole('button', { name: 'Ban' }).click()
    await tab.getByRole('dialog', { name: 'Ban' }).getByRole('button', { name: 'Ban' }).click()
    await tab.getByRole('heading', { level: 1, name: 'Bans' }).waitFor()
    const row = tab.getByRole('row').filter({ hasText: 'one' })
    await row.getByRole('button', { name: 'Lift' }).click()
    await row.getByRole('dialog').getByRole('button', { name: 'Lift' }).click()
    await row.waitFor({ state: 'detached' })
    const form = tab.getByRole('form', { name: 'Ban' })
    await form.getByLabel('Kind').selectOption('peerhost_net')
    await form.getByLabel('Who').fill('192.0.2.0/24')
    await form.getByLabel('Until').fill('2100-01-01T00:00')
    await form.getByRole('button', { name: 'Ban' }).click()
    await tab.getByRole('row').filter({ hasText: '192.0.2.0/24' }).filter({ hasText: '1/1/00' }).waitFor()

    await show(tab, '#/subscriptions')
    await tab.getByRole('button', { name: 'Shared groups' }).click()
    const group = tab.getByRole('row').filter({ hasText: 'workers' })
    await group.filter({ hasText: '0 / 1' }).filter({ hasText: '2 (' }).waitFor()

    await show(tab, '#/topic-rules')
    for (const [name, fields, shown] of [
      ['Topic rewrites', { 'Topic filter': 'old/#', RE2: '^old/(.+)$', 'New topic': 'new/$1' }, 'old/#'],
      ['Automatic subscriptions', { 'Topic filter': 'to/${clientid}' }, 'to/${clientid}'],
      ['Retained messages', { 'Topic filter': 'kept/#', 'Maximum payload': '10' }, 'kept/#'],
      ['Checks of payloads', { Name: 'warm', 'Topic filter': 'rooms/#', SQL: 'SELECT * FROM "#"' }, 'rooms/#'],
    ]) {
      const rules = tab.getByRole('form', { name })
      for (const [label, text] of Object.entries(fields)) await rules.getByLabel(label).fill(text)
      await rules.getByRole('button', { name: 'Add' }).click()
      const rule = tab.getByRole('row').filter({ hasText: shown })
      await rule.getByRole('button', { name: 'Delete' }).click()
      await rule.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await rule.waitFor({ state: 'detached' })
    }
  },

  /** One of two nodes shows both, and a client of the other one is kicked. Then the other one is killed, and the open pages say what is missing. */
  async cluster() {
    const tab = await open()
    await signIn(tab)
    const node = name => tab.getByRole('row').filter({ has: tab.getByRole('cell', { name, exact: true }) })
    for (const name of ['n0', 'n1']) await node(name).filter({ hasText: 'running' }).waitFor()
    for (const [name, connected] of [['n0', '1'], ['n1', '2'], ['', '3']]) {
      await tab.locator('select[name=node]').selectOption(name)
      await until(tile(tab, 'Connected'), connected)
    }
    await show(tab, '#/cluster')
    await tab.getByRole('row').filter({ hasText: 'n1' }).filter({ hasText: 'reachable' }).waitFor()
    await show(tab, '#/subscriptions')
    for (const filter of ['fleet/near', 'fleet/far', 'fleet/other']) await tab.getByRole('row').filter({ hasText: filter }).waitFor()
    await show(tab, '#/clients')
    await tab.getByText('· 3 entries').waitFor()
    await node('near').filter({ hasText: 'n0' }).waitFor()
    const far = node('far')
    await far.filter({ hasText: 'n1' }).getByRole('button', { name: 'Kick' }).click()
    await tab.getByRole('dialog').getByRole('button', { name: 'Kick' }).click()
    await far.waitFor({ state: 'detached' })
    await node('other').waitFor()
    const overview = await open()
    await signIn(overview)
    console.log('kicked')

    await overview.getByRole('row').filter({ hasText: 'peer_gone/n1' }).waitFor()
    await overview.getByRole('row').filter({ hasText: 'n1' }).filter({ hasText: 'stopped' }).waitFor()
    await overview.getByText('Incomplete: no answer from n1.').first().waitFor()
    await until(tile(overview, 'Connected'), '1')
    await overview.getByText('peer_gone/n1').scrollIntoViewIfNeeded()
    for (const colorScheme of ['light', 'dark']) {
      await overview.emulateMedia({ colorScheme })
      await check(overview, colorScheme, '#/alarm')
    }
    for (const href of ['#/subscriptions', '#/clients']) {
      await show(tab, href)
      await tab.getByText('Incomplete: no answer from n1.').waitFor()
    }
    await node('near').waitFor()
    assert.equal(await node('other').count(), 0)
  },

  /** A rule is tried out while its statement is typed, made by a form, stopped and started; a rule of the file can be looked at only. */
  async rules() {
    const tab = await open()
    await signIn(tab)
    await show(tab, '#/rules')
    const rows = tab.getByRole('row')
    await rows.filter({ hasText: 'configured' }).filter({ hasText: 'Running' }).filter({ hasText: '<img src=x onerror=alert(1)>' }).waitFor()
    await tab.getByRole('link', { name: 'configured' }).click()
    await tab.getByText('This rule is in the configuration file').waitFor()
    assert.equal(await tab.getByRole('button', { name: /Save|Stop|Delete/ }).count(), 0)
    await show(tab, '#/rules')
    await tab.getByRole('link', { name: 'Add rule' }).focus()
    await tab.keyboard.press('Enter')

    const statement = tab.getByLabel('Statement (SQL)')
    await statement.fill('SELECT payload.t AS t,, clientid\nFROM "sensors/#"')
    const mistake = tab.getByRole('alert').filter({ hasText: 'line 1, column 23' })
    await mistake.waitFor()
    const [, shown, caret] = (await mistake.innerText()).split('\n')
    assert.equal(shown, 'SELECT payload.t AS t,, clientid')
    assert.equal(caret, ' '.repeat(22) + '^')
    await statement.fill('SELECT payload.t AS t, clientid FROM "sensors/#" WHERE payload.t > 40')
    await rows.filter({ hasText: 'WHERE' }).filter({ hasText: 'true' }).waitFor()
    await tab.getByText('Selected, rows: 1').waitFor()
    await until(tab.getByRole('region', { name: 'Result', exact: true }), '"clientid": "kitchen"')
    await tab.locator('[name=sample-topic]').fill('other/1')
    await rows.filter({ hasText: 'FROM' }).filter({ hasText: 'false' }).waitFor()
    await tab.getByText('FROM does not have the topic other/1').waitFor()
    await tab.locator('[name=sample-topic]').fill('')
    await tab.getByText('Selected, rows: 1').waitFor()
    await tab.locator('[name=sample-payload]').fill('{"t": 7, "x": "<img src=x>"}')
    await rows.filter({ hasText: 'WHERE' }).filter({ hasText: 'false' }).waitFor()
    await tab.getByText('No row').waitFor()

    await tab.locator('[name=id]').fill('hot')
    await tab.getByRole('button', { name: 'Add action' }).click()
    await tab.locator('select[name$=":type"]').selectOption('http')
    await tab.getByLabel('url required').fill('http://127.0.0.1:10/')
    await tab.getByRole('button', { name: 'Check connection' }).click()
    await tab.getByRole('alert').filter({ hasText: 'Connection refused' }).waitFor()
    await tab.locator('select[name$=":type"]').selectOption('republish')
    await tab.getByRole('button', { name: 'Save' }).click()
    assert.ok(await tab.getByLabel('topic required').evaluate(field => field.validity.valueMissing))
    await tab.getByLabel('topic required').fill('alarms/${clientid}')
    await tab.getByLabel('user-properties').fill('from: ${clientid}\nunit: C')
    await tab.getByText('Queue, batches and retries').click()
    await tab.getByLabel('batch-time').fill('soon')
    await tab.getByRole('button', { name: 'Save' }).click()
    await tab.getByRole('alert').filter({ hasText: 'batch-time must be a duration' }).waitFor()
    await tab.getByLabel('batch-time').fill('10ms')
    await tab.getByRole('button', { name: 'Check connection' }).click()
    await tab.getByText('The sink can be reached.').waitFor()
    assert.deepEqual(await violations(tab), [])
    await tab.getByRole('button', { name: 'Save' }).click()
    await rows.filter({ hasText: 'republish' }).waitFor()
    console.log('added')

    await show(tab, '#/rules')
    const row = rows.filter({ has: tab.getByRole('link', { name: 'hot' }) })
    await row.filter({ hasText: /Running\s*2\s*1\s*1\s*1\s*0\s*0\s*0/ }).waitFor() // the counts, when both messages are treated
    const stop = async (name, state) => {
      await row.getByRole('button', { name }).click()
      await row.getByRole('dialog').getByRole('button', { name }).click()
      await row.filter({ hasText: state }).waitFor()
    }
    await stop('Stop', 'Stopped')
    await tab.getByRole('link', { name: 'hot' }).click()
    assert.equal(await tab.getByLabel('user-properties').inputValue(), 'from: ${clientid}\nunit: C')
    await tab.locator('[name=description]').fill('of rooms')
    await tab.getByRole('button', { name: 'Save' }).click()
    await tab.getByText('Saved.').waitFor()
    await show(tab, '#/rules')
    await row.filter({ hasText: 'of rooms' }).waitFor()
    await stop('Start', 'Running')
    await row.getByRole('button', { name: 'Delete' }).click()
    await row.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await row.waitFor({ state: 'detached' })
  },

  /** A source is made by a form, reads, is changed, stopped, disabled and deleted; one of the file can be stopped and started only. */
  async sources() {
    const tab = await open()
    await signIn(tab)
    await show(tab, '#/sources')
    const rows = tab.getByRole('row')
    const fixed = rows.filter({ has: tab.getByRole('link', { name: 'configured' }) })
    await fixed.filter({ hasText: 'Running' }).waitFor()
    assert.equal(await fixed.getByRole('button', { name: /Disable|Delete/ }).count(), 0)
    await tab.getByRole('link', { name: 'configured' }).click()
    await tab.getByText('This source is in the configuration file').waitFor()
    assert.equal(await tab.getByRole('button', { name: 'Save' }).count(), 0)
    await show(tab, '#/sources')
    await tab.getByRole('link', { name: 'Add source' }).focus()
    await tab.keyboard.press('Enter')

    await tab.locator('[name=id]').fill('orders')
    await tab.getByRole('combobox', { name: 'Type' }).selectOption('http')
    await tab.getByRole('button', { name: 'Save' }).click()
    assert.ok(await tab.getByLabel('topic required').evaluate(field => field.validity.valueMissing))
    await tab.getByLabel('topic required').fill('orders/${path}')
    await tab.getByLabel('port', { exact: true }).fill(given.port)
    await tab.getByText('Payload, QoS, nodes and limits').click()
    await tab.getByLabel('min-delay').fill('soon')
    await tab.getByRole('button', { name: 'Save' }).click()
    await tab.getByRole('alert').filter({ hasText: 'min-delay must be' }).waitFor()
    await tab.getByLabel('min-delay').fill('1s')
    await tab.getByRole('button', { name: 'Check connection' }).click()
    await tab.getByText('The source can be read.').waitFor()
    assert.deepEqual(await violations(tab), [])
    await tab.getByRole('button', { name: 'Save' }).click()
    await rows.filter({ hasText: 'Running' }).waitFor()
    console.log('added')

    await show(tab, '#/sources')
    const row = rows.filter({ has: tab.getByRole('link', { name: 'orders' }) })
    await row.filter({ hasText: /Running\s*[\d.,–]+\s*2\s*2\s*0\s*0\s*0\s*0/ }).waitFor() // the counts, when both requests are answered
    const act = async (name, state) => {
      await row.getByRole('button', { name, exact: true }).click()
      await row.getByRole('dialog').getByRole('button', { name, exact: true }).click()
      await row.filter({ hasText: state }).waitFor()
    }
    await act('Stop', 'Stopped')
    await act('Start', 'Running')
    await act('Disable', 'Disabled')
    await tab.getByRole('link', { name: 'orders' }).click()
    assert.equal(await tab.getByLabel('topic required').inputValue(), 'orders/${path}')
    await tab.getByLabel('topic required').fill('others/${path}')
    await tab.getByRole('button', { name: 'Save' }).click()
    await tab.getByText('Saved.').waitFor()
    await show(tab, '#/sources')
    await act('Enable', 'Running')
    console.log('changed')
    await row.filter({ hasText: /Running\s*[\d.,–]+\s*1\s*1\s*0/ }).waitFor()
    await row.getByRole('button', { name: 'Delete' }).click()
    await row.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await row.waitFor({ state: 'detached' })
  },

  /** A trace of a client shows what happens to it while the page is open. */
  async trace() {
    const tab = await open()
    await signIn(tab)
    await show(tab, '#/clients/one')
    await tab.getByRole('button', { name: 'Trace', exact: true }).click()
    await tab.getByRole('button', { name: 'Start trace' }).click()
    await tab.getByRole('button', { name: 'Stop trace' }).waitFor()
    const log = tab.getByRole('log')
    const publish = payload =>
      tab.evaluate(async payload => {
        const Authorization = `Bearer ${JSON.parse(sessionStorage.getItem('smqtt.session')).token}`
        const headers = { Authorization, 'Content-Type': 'application/json' }
        await fetch('/api/v5/publish', { method: 'POST', headers, body: JSON.stringify({ topic: 'a/b', qos: 1, payload }) })
      }, payload)
    await publish('first <b>')
    await until(log, 'PUBLISH_SENT')
    await until(log, 'first <b>')
    await publish('second')
    await until(log, 'second')
    assert.deepEqual(await violations(tab), [])
    await tab.getByRole('button', { name: 'Stop trace' }).click()
    await tab.getByRole('button', { name: 'Start trace' }).waitFor()
    await tab.getByRole('button', { name: 'Delete' }).click()
    await log.waitFor({ state: 'detached' })
  },

  /** A viewer finds an operation of the API by search, and opens it with the keyboard. */
  async reference() {
    const tab = await open()
    await signIn(tab, given.viewer)
    await show(tab, '#/api')
    const entries = tab.locator('details.operation')
    await entries.first().waitFor()
    const all = await entries.count()
    assert.ok(all > 70, `${all} operations`)
    await tab.getByLabel('Search').fill('post KICKOUT')
    await tab.getByText('1 operations').waitFor()
    assert.equal(await entries.count(), 1)
    await entries.locator('summary').focus()
    await tab.keyboard.press('Enter')
    await until(entries, 'administrator, operator')
    await until(entries, "-d '[\"sensor-8\",\"sensor-9\"]'")
    await until(entries, '204')
    assert.deepEqual(await violations(tab), [])
    await tab.getByLabel('Search').fill('')
    await tab.waitForFunction(all => document.querySelectorAll('details.operation').length === all, all)
    for (const summary of await entries.locator('> summary').all()) {
      if (!(await summary.evaluate(one => one.parentElement.open))) await summary.click()
    }
    assert.equal(await tab.locator('details.operation[open]').count(), all)
    assert.equal(await tab.getByText('undefined').count(), 0)
    await show(tab, '#/api/getClient')
    await until(tab.locator('details.operation[open]').filter({ hasText: '/clients/{clientid}' }).first(), 'mqueue_dropped')
  },

  /** Every page, light, dark and narrow: nothing that WCAG AA forbids, and nothing wider than the screen. */
  async accessibility() {
    for (const [name, colorScheme, width] of [['light', 'light', 1280], ['dark', 'dark', 1280], ['narrow', 'light', 360]]) {
      const tab = await open({ colorScheme, viewport: { width, height: 800 } })
      await tab.goto(url)
      await tab.getByRole('button', { name: 'Sign in' }).waitFor()
      await check(tab, name, '#/login')
      await signIn(tab)
      if (given.pictures) await tab.waitForTimeout(PICTURED)
      for (const href of await pagesOf(tab)) {
        if (href !== '#/') await show(tab, href)
        await check(tab, name, href)
      }
      await parts(tab, part => check(tab, name, part))
      await tab.context().close()
    }
  },

  /** All pages but the tool and the description of the API together take at most 60 KiB, without the answers of the API. */
  async size() {
    const tab = await open()
    const protocol = await tab.context().newCDPSession(tab)
    await protocol.send('Network.enable')
    const paths = new Map()
    let bytes = 0
    protocol.on('Network.responseReceived', event => paths.set(event.requestId, new URL(event.response.url).pathname))
    protocol.on('Network.loadingFinished', event => {
      if (paths.get(event.requestId)?.startsWith('/dashboard/')) bytes += event.encodedDataLength
    })
    await signIn(tab)
    for (const href of await pagesOf(tab)) {
      if (href !== '#/api') await show(tab, href)
    }
    assert.ok(bytes > 10_000 && bytes <= 60 * 1024, `${bytes} bytes were loaded`)
    console.log(`${bytes} bytes`)
  },
}

/** What a page shows after a click. */
async function parts(tab, look) {
  await show(tab, '#/clients/one')
  await tab.getByRole('row').filter({ hasText: 'a/#' }).waitFor()
  await look('#/client')
  await tab.getByRole('button', { name: 'Kick' }).click()
  await look('#/kick')
  await tab.getByRole('button', { name: 'Cancel' }).filter({ visible: true }).click()
  await show(tab, '#/subscriptions')
  await tab.getByRole('button', { name: 'Shared groups' }).click()
  await tab.getByRole('row').filter({ hasText: 'workers' }).waitFor()
  await look('#/groups')
  await show(tab, '#/rules/%2B')
  await tab.getByRole('button', { name: 'Add action' }).click()
  await tab.getByLabel('topic required').waitFor()
  await tab.getByText('Queue, batches and retries').click()
  await tab.getByText('Selected, rows: 1').waitFor()
  await look('#/rule')
  await tab.getByLabel('Statement (SQL)').fill('SELECT payload.t AS t, clientid,, topic, qos, timestamp, payload FROM "sensors/#" WHERE payload.t > 40')
  await tab.getByRole('alert').filter({ hasText: 'line 1' }).waitFor()
  await look('#/mistake')
  await show(tab, '#/sources/%2B')
  await tab.getByLabel('topic required').waitFor()
  await tab.getByText('Payload, QoS, nodes and limits').click()
  await look('#/source')
  await show(tab, '#/topics')
  await tab.getByLabel('Topic', { exact: true }).fill('a/b')
  await tab.getByRole('button', { name: 'Explain' }).click()
  await tab.getByRole('row').filter({ hasText: 'Sent' }).waitFor()
  await look('#/explain')
  await show(tab, '#/retained')
  await tab.getByRole('button', { name: 'Show' }).first().click()
  await tab.locator('pre').waitFor()
  await look('#/payload')
  await show(tab, '#/api/kickClients')
  await tab.locator('details.operation[open]').getByText('sensor-8').first().waitFor()
  await tab.waitForFunction(() => document.querySelector('details[open]').getBoundingClientRect().top < innerHeight / 2)
  await look('#/operation')
}

async function check(tab, name, href) {
  assert.deepEqual(await violations(tab), [], `${href}, ${name}`)
  const wider = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.ok(wider <= 0, `${href}, ${name}: ${wider} pixels are not on the screen`)
  if (given.pictures) {
    mkdirSync(given.pictures, { recursive: true })
    const page = href.replace(/^#\//, '').split('?')[0].replaceAll('/', '-') || 'overview'
    const protocol = await tab.context().newCDPSession(tab)
    const { data } = await protocol.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
    await protocol.detach()
    writeFileSync(`${given.pictures}/${page}-${name}.webp`, Buffer.from(data, 'base64'))
  }
}

try {
  await scenarios[process.argv[2]]()
  assert.deepEqual(faults, [])
} finally {
  await browser.close()
}
