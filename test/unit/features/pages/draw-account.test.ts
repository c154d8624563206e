import { expect, test } from 'vitest'
import { describeDevices, drawDevices } from '../../../../src/features/pages/draw-account.ts'
import { createHooks } from '../../../../src/hooks/hooks.ts'
import type { SessionRecord } from '../../../../src/sessions/session-record.ts'
import { allow } from '../../../../src/strategies/allow.ts'
import { createLogicModes } from '../../../../src/strategies/logic-catalogue.ts'
import { logoutOldest } from '../../../../src/strategies/logout-oldest.ts'
import { createTextsFor } from '../../../../src/texts/texts-for.ts'
import { sessionRecords } from '../../../support/session-records.ts'

const DAY = 86_400_000
const byRole = { ...allow, id: 'by_role', accountTexts: undefined }
const hooks = createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 1000 })
const modes = createLogicModes(hooks, [byRole])
const { say } = createTextsFor(undefined, { warn() {}, error() {} })()

/** Records of sessions with what each of them differs in, the last of which is that of the request. */
function listOf(...differences: Partial<SessionRecord>[]) {
  const now = Date.now()
  const sessions = sessionRecords(differences.length).map((record, index) => ({
    ...record,
    createdAt: now - 90 * DAY,
    lastSeenAt: now,
    ...differences[index],
  }))
  return { sessions, current: sessions.at(-1), maximum: 9, mode: allow }
}

const parts = { base: '/account', page: 1, say, show: {}, result: undefined }
const drawing = { say, action: '/account', proof: 'proof', logoutUrl: undefined, mode: allow }
const sequencesOf = (rows: readonly { token: string }[], { sessions }: ReturnType<typeof listOf>) =>
  rows.map((row) => sessions.find(({ token }) => token === row.token)?.sequence)

test('sessions that were not used for more than 30 days are in a list of their own', async () => {
  const [justUsed, unused] = [Date.now() - 30 * DAY + 3_600_000, Date.now() - 30 * DAY - 3_600_000]
  const list = listOf({ lastSeenAt: justUsed }, { lastSeenAt: unused }, {})
  const devices = await describeDevices(list, parts)
  expect([sequencesOf(devices.others, list), sequencesOf(devices.unused, list)]).toEqual([[1], [2]])
  const { text } = drawDevices(drawing, devices)
  expect(text).toMatch(/<h2 id="account_unused">Not used lately<\/h2><ul class="list"><li class="row">/)
  expect(text.split('<li class="row">')).toHaveLength(4)
  const { current, others } = await describeDevices(listOf({}, { lastSeenAt: unused }), parts)
  expect([current?.isCurrent, others.length]).toEqual([true, 1])
  expect(drawDevices(drawing, await describeDevices(listOf({}, {}), parts)).text).not.toContain('Not used lately')
})

test('another sign-in of this browser is tagged, and neither this one nor those of other browsers', async () => {
  const list = listOf({ device: 'a' }, { device: 'b' }, { device: null }, { device: 'a' })
  const devices = await describeDevices(list, parts)
  expect(devices.current?.isSameBrowser).toBe(false)
  expect(devices.others.map(({ isSameBrowser }) => isSameBrowser)).toEqual([true, false, false])
  const { text } = drawDevices(drawing, devices)
  expect(text.split('<span class="tag">This browser, another sign-in</span>')).toHaveLength(2)
  const unknown = await describeDevices(listOf({ device: null }, { device: null }), parts)
  expect(unknown.others[0]?.isSameBrowser).toBe(false)
})

test.each([
  ['allow', 'Signing in on another device signs out all of these.', undefined],
  ['block', 'You cannot sign in on another device until you sign out on one of these.', undefined],
  ['ask', 'Signing in on another device asks which of these to sign out.', undefined],
  ['logout_oldest', 'Signing in on another device signs out the one that signed in first: Firefox on Linux.', 1],
  ['logout_idlest', 'Signing in on another device signs out the one unused the longest: Chrome on Windows.', 2],
  ['by_role', '', undefined],
])('in mode %s, a full list says what the next login does', async (logic, sentence, next) => {
  const [used, unused] = [Date.now() - DAY, Date.now() - 2 * DAY]
  const [linux, windows] = [
    'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  ]
  const own = listOf({ lastSeenAt: used, userAgent: linux }, { lastSeenAt: unused, userAgent: windows }, {})
  const list = { ...own, mode: modes.strategyOf(logic), maximum: 3 }
  const { mode } = list
  const devices = await describeDevices(list, parts)
  const { text } = drawDevices({ ...drawing, mode }, devices)
  expect(text).toContain(`${`You are signed in on 3 of 3 devices. ${sentence}`.trim()}</p>`)
  const tagged = devices.others.filter(({ isNext }) => isNext)
  expect(sequencesOf(tagged, list)).toEqual(next === undefined ? [] : [next])
  const { text: room } = drawDevices({ ...drawing, mode }, await describeDevices({ ...list, maximum: 4 }, parts))
  expect(room).toContain('You are signed in on 3 of 4 devices.</p>')
})

test('the option `show` adds address and location, and a location that fails leaves the page as it is', async () => {
  const list = listOf({ ip: '192.0.2.1' }, { ip: '192.0.2.2' }, { ip: '192.0.2.3' }, { ip: null })
  const location = async ({ ip }: SessionRecord) => {
    if (ip === '192.0.2.2') throw new Error('no such place')
    return ip === '192.0.2.1' ? '<Berlin>' : null
  }
  const devices = await describeDevices(list, { ...parts, show: { ip: true, location } })
  const places = [devices.current, ...devices.others].map((row) => [row?.ip, row?.place])
  expect(places).toEqual([
    [undefined, undefined],
    ['192.0.2.1', '<Berlin>'],
    ['192.0.2.2', undefined],
    ['192.0.2.3', undefined],
  ])
  expect(drawDevices(drawing, devices).text).toContain('<bdi>Near &lt;Berlin&gt;</bdi> · <bdi>192.0.2.1</bdi>')
  expect(drawDevices(drawing, await describeDevices(list, parts)).text).not.toContain('192.0.2')
})

test('twins are told apart by the second of their login, or as the first and the last, and the sentence names one', async () => {
  const at = Date.UTC(2026, 0, 5, 8, 58, 12)
  const own = listOf({ createdAt: at }, { createdAt: at + 3000 }, { createdAt: at }, { createdAt: at - 60_000 }, {})
  const list = { ...own, maximum: 5, mode: logoutOldest }
  const devices = await describeDevices(list, parts)
  expect([...devices.others, ...devices.unused].map(({ since }) => since).toSorted()).toEqual([
    '5 Jan 2026, 08:57:12 UTC',
    '5 Jan 2026, 08:58:12 UTC (first)',
    '5 Jan 2026, 08:58:12 UTC (last)',
    '5 Jan 2026, 08:58:15 UTC',
  ])
  const { text } = drawDevices({ ...drawing, mode: logoutOldest }, devices)
  const device = devices.current?.device
  const named = `${device} (signed in 5 Jan 2026, 08:58:12 UTC (first))`
  expect(text).toContain(`signs out the one that signed in first: ${named}.`)
  expect(text).toContain(`aria-label="Sign out ${named}, used now"`)
  const labels = [...text.matchAll(/aria-label="([^"]+)"/g)].map(([, label]) => label)
  expect(new Set(labels).size).toBe(4)
})
