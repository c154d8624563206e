import { expect, test } from 'vitest'
import type { OpenChoice } from '../../../../src/features/pages/choice-logins.ts'
import { describeChoice } from '../../../../src/features/pages/draw-choice.ts'
import { textCatalogue } from '../../../../src/texts/text-catalogue.ts'
import type { Say } from '../../../../src/texts/texts-for.ts'
import { sessionRecords } from '../../../support/session-records.ts'
import { AGENTS } from '../../../support/user-agents.ts'

const DAY = 86_400_000
const say: Say = (key) => (key === 'lang' ? 'en' : textCatalogue.texts[key])

/** A choice among sessions that were last used so many days ago. */
function openWith(daysAgo: readonly number[], more: Partial<OpenChoice> = {}): OpenChoice {
  const now = Date.now()
  const sessions = sessionRecords(daysAgo.length).map((record, index) => ({
    ...record,
    lastSeenAt: now - (daysAgo[index] ?? 0) * DAY,
  }))
  return {
    login: { userId: 1, leftMs: 61_000, tries: 3 },
    secret: '',
    choice: { need: 1, maximum: 2, sessions },
    chosen: [],
    problem: undefined,
    ...more,
  }
}

const parts = { say, showsIp: false, idleMs: 0 }

test('sessions are listed from the one unused for longest, with those that were chosen', async () => {
  const open = openWith([1, 30, 0])
  const [, oldest] = open.choice?.sessions ?? []
  const devices = await describeChoice({ ...open, chosen: [oldest?.token ?? ''] }, parts)
  expect(devices?.rows.map(({ isUnused, isChosen }) => [isUnused, isChosen])).toEqual([
    [true, true],
    [false, false],
    [false, false],
  ])
  expect(devices).toMatchObject({ need: 1, maximum: 2, minutes: 2, problem: undefined })
})

test('the setting idle_release decides what is unused', async () => {
  const devices = await describeChoice(openWith([1, 3, 0]), { ...parts, idleMs: 2 * DAY })
  expect(devices?.rows.map(({ isUnused }) => isUnused)).toEqual([true, false, false])
})

test('addresses are shown on demand alone, and nothing without a choice', async () => {
  const [row] = (await describeChoice(openWith([0]), parts))?.rows ?? []
  expect(row?.ip).toBeUndefined()
  expect(await describeChoice(openWith([0], { choice: undefined }), parts)).toBeUndefined()
})

test('twins are told apart, and other devices show the minute or the day only', async () => {
  const { choice, ...open } = openWith([0, 0, 0])
  const at = Date.UTC(2026, 0, 5, 8, 58, 12)
  const sessions = (choice?.sessions ?? []).map((record, index) => ({
    ...record,
    createdAt: at + Math.floor(index / 2) * 1000,
    ...(index === 2 && { userAgent: AGENTS.linux }),
  }))
  const devices = await describeChoice({ ...open, choice: { need: 1, maximum: 3, sessions } }, parts)
  expect(devices?.rows.map(({ since }) => since)).toEqual(['{date} (first)', '{date} (last)', '5 Jan 2026'])
})
