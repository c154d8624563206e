import { expect, it } from 'vitest'
import { blockedMessage } from '../../../../src/limiter/decision/refusals.ts'
import { allow } from '../../../../src/strategies/allow.ts'
import { ask } from '../../../../src/strategies/ask.ts'
import { block } from '../../../../src/strategies/block.ts'
import type { LimitStrategy } from '../../../../src/strategies/limit-strategy.ts'
import { textCatalogue } from '../../../../src/texts/text-catalogue.ts'
import { readerTexts } from '../../../../src/texts/texts-for.ts'
import { limitContext } from '../../../support/limit-context.ts'
import { usedAt } from '../../../support/session-records.ts'

const NOON = Date.UTC(2026, 10, 22, 12)
const MINUTE = 60_000
const DAY = 86_400_000

interface Given {
  maximum?: number
  mode?: LimitStrategy
  texts?: object
  label?: string
}

/** The message for a login at noon, with sessions that were last used some minutes ago and last two days more. */
const messageTo = (minutes: readonly number[], idleAfterMs: number, given: Given = {}) => {
  const { maximum = 1, mode = block, texts = {}, label } = given
  const records = usedAt(...minutes.map((ago) => NOON - ago * MINUTE))
  const sessions = records.map((record) => ({ ...record, expiresAt: NOON + 2 * DAY }))
  const context = limitContext({ sessions, maximum, now: NOON, idleAfterMs })
  return blockedMessage(readerTexts(texts), { mode, context, ...(label !== undefined && { label }) })
}

it('the message of a refused login says when enough sessions expire or will be unused for long enough', async () => {
  expect(await messageTo([10.5], 30 * MINUTE)).toBe(
    'This account is in use on 1 device. Sign out there, or try again at 12:20 UTC: a session unused for ' +
      '30 minutes makes room.',
  )
  const two = await messageTo([10, 25, 2], 60 * MINUTE, { maximum: 2 })
  expect(two).toMatch(/ on 2 devices\. .* at 12:50 UTC: .* for 1 hour makes room\.$/)
  expect(await messageTo([0], 10 * DAY)).toMatch(/ at 24 Nov 2026, 12:00 UTC: .* for 10 days makes room\.$/)
})

it('the message for the limit of a label speaks of one kind of device', async () => {
  const ofKind = (idleMs: number, maximum: number) => messageTo([10], idleMs, { maximum, label: 'desktop' })
  expect(await ofKind(30 * MINUTE, 1)).toMatch(/ on 1 device of this kind\. .* try again at 12:20 UTC: /)
  expect(await ofKind(Number.POSITIVE_INFINITY, 2)).toMatch(/ on 2 devices of this kind\. .* and try again\.$/)
})

it('the message is in the language of the user, and names no time where there is none', async () => {
  const texts = { lang: 'de', login_blocked_idle_one: 'Um {time}, nach {idle}.' }
  expect(await messageTo([10], 30 * MINUTE, { mode: ask, texts })).toBe('Um 12:20 UTC, nach 30 Minuten.')
  const plain = [
    messageTo([10], Number.POSITIVE_INFINITY),
    messageTo([], 30 * MINUTE),
    messageTo([10], 30 * MINUTE, { mode: { ...allow, id: 'own' } }),
    blockedMessage(),
  ]
  expect(await Promise.all(plain)).toEqual(plain.map(() => textCatalogue.texts.login_blocked))
})
