import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { BUSY_HOSTS, expectServed, startCrowd } from '../support/busy-hosts.ts'
import { printFigures } from '../support/print-figures.ts'

describe.each(Object.entries(BUSY_HOSTS))('on %s, a session store', (name, start) => {
  test.each([30_000])('rule 74: that stalls for %d ms refuses nobody', { timeout: 120_000 }, async (ms) => {
    const { host, rush, expectAsBefore } = await startCrowd(start)
    const stall = sleep(ms)
    host.sessions.disturb = () => stall
    const since = performance.now()
    await expectServed(rush())
    printFigures(`a stall of ${ms / 1000} s on ${name}`, { allAnsweredMs: Math.round(performance.now() - since) })
    expect(await host.limiter.sessions.count(2)).toBe(2)
    host.sessions.disturb = undefined
    await expectAsBefore()
  })
})
