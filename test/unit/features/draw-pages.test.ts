import { expect, test } from 'vitest'
import type { OpenChoice } from '../../../src/features/pages/choice-logins.ts'
import { describeDevices, drawDevices } from '../../../src/features/pages/draw-account.ts'
import { describeChoice } from '../../../src/features/pages/draw-choice.ts'
import { createHooks } from '../../../src/hooks/hooks.ts'
import type { SessionRecord } from '../../../src/sessions/session-record.ts'
import { allow } from '../../../src/strategies/allow.ts'
import { createLogicModes } from '../../../src/strategies/logic-catalogue.ts'
import { logoutOldest } from '../../../src/strategies/logout-oldest.ts'
import { createTextsFor } from '../../../src/texts/texts-for.ts'
import { sessionRecords } from '../../support/session-records.ts'
import { AGENTS } from '../../support/user-agents.ts'

const DAY = 86_400_000
const byRole = { ...allow, id: 'by_role' }
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
  expect(drawDevices(drawing, devices).text.split('<li class="row">')).toHaveLength(4)
  const { current, others } = await describeDevices(listOf({}, { lastSeenAt: unused }), parts)
  expect([current?.isCurrent, others.length]).toEqual([true, 1])
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

test('a full list says what the next login does in each mode, and tags whom it signs out', async () => {
  const [used, unused] = [Date.now() - DAY, Date.now() - 2 * DAY]
  const devices = [{ lastSeenAt: used, userAgent: AGENTS.linux }, { lastSeenAt: unused, userAgent: AGENTS.windows }, {}]
  const own = listOf(...devices)
  for (const [logic, sentence, next] of [
    ['allow', 'Signing in on another device signs out all of these.', []],
    ['block', 'You cannot sign in on another device until you sign out on one of these.', []],
    ['ask', 'Signing in on another device asks which of these to sign out.', []],
    ['logout_oldest', 'Signing in on another device signs out the one that signed in first: Firefox on Linux.', [1]],
    ['logout_idlest', 'Signing in on another device signs out the one unused the longest: Chrome on Windows.', [2]],
    ['by_role', '', []],
  ] as const) {
    const list = { ...own, mode: modes.strategyOf(logic), maximum: 3 }
    const drawn = { ...drawing, mode: list.mode }
    const described = await describeDevices(list, parts)
    const text = `${`You are signed in on 3 of 3 devices. ${sentence}`.trim()}</p>`
    expect(drawDevices(drawn, described).text, logic).toContain(text)
    const tagged = described.others.filter(({ isNext }) => isNext)
    expect(sequencesOf(tagged, list), logic).toEqual(next)
    const { text: room } = drawDevices(drawn, await describeDevices({ ...list, maximum: 4 }, parts))
    expect(room, logic).toContain('You are signed in on 3 of 4 devices.</p>')
  }
})

test('the option `show` adds address and location, and a location that fails leaves the page as it is', async () => {
  const list = listOf({ ip: '192.0.2.1' }, { ip: '192.0.2.2' }, { ip: '192.0.2.3' }, { ip: null })
  const location = async ({ ip }: SessionRecord) => {
    if (ip === '192.0.2.2') throw new Error('no such place')
    return ip === '192.0.2.1' ? '<Berlin>' : null
  }
  const devices = await describeDevices(list, { ...parts, show: { ip: true, location } })
  const rows = [devices.current, ...devices.others]
  expect(rows.map((row) => row?.ip)).toEqual([undefined, '192.0.2.1', '192.0.2.2', '192.0.2.3'])
  expect(rows.map((row) => row?.place)).toEqual([undefined, '<Berlin>', undefined, undefined])
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
})

test('a choice lists sessions from the one unused for longest, unused by idle_release or after seven days', async () => {
  const choose = async (daysAgo: readonly number[], idleMs: number) => {
    const sessions = sessionRecords(daysAgo.length).map((record, index) => ({
      ...record,
      lastSeenAt: Date.now() - (daysAgo[index] ?? 0) * DAY - 1,
    }))
    const open: OpenChoice = {
      login: { userId: 1, leftMs: 61_000, tries: 3 },
      secret: '',
      choice: { need: 1, maximum: 2, sessions },
      chosen: [sessions[1]?.token ?? ''],
      problem: undefined,
    }
    expect(await describeChoice({ ...open, choice: undefined }, { say, showsIp: false, idleMs })).toBeUndefined()
    return describeChoice(open, { say, showsIp: false, idleMs })
  }
  const devices = await choose([6, 7, 0], 0)
  expect(devices?.rows).toMatchObject([{ isUnused: true, isChosen: true }, { isUnused: false }, { isUnused: false }])
  expect(devices).toMatchObject({ need: 1, maximum: 2, minutes: 2, problem: undefined })
  expect((await choose([1, 3, 0], 2 * DAY))?.rows.map(({ isUnused }) => isUnused)).toEqual([true, false, false])
})
