import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Answer, Browser } from '../../support/browser.ts'
import { startProgram } from '../../support/start-program.ts'
import { useRedis } from '../../support/use-redis.ts'

const redis = useRedis()
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PROGRAM = 'test/support/guessing-process.mjs'
const CHOOSE = '/login/choose'
const REAUTHENTICATE = '/api/sessmgr/v1/me/reauthenticate'
const PROCESSES = 2
/** How many logins are sent at a time. */
const BATCH = 50
const JSON_ONLY = { accept: 'application/json' }

interface Setup {
  readonly choice?: {
    readonly verify?: boolean
    readonly cooldown?: { readonly count: number; readonly minutes: number }
  }
}

/** Starts the processes of one application. */
async function startAll({ choice = {} }: Setup) {
  const env = { GUESSING: JSON.stringify({ url: redis.server.url, choice }) }
  const programs = await Promise.all(Array.from({ length: PROCESSES }, () => startProgram(PROGRAM, { cwd: ROOT, env })))
  onTestFinished(async () => void (await Promise.all(programs.map(({ stop }) => stop()))))
  const origins = programs.map(({ origin }) => origin)
  return {
    browser: (n = 0) => new Browser(origins[n % PROCESSES] as string),
    originOf: (n: number) => origins[n % PROCESSES],
  }
}

type Processes = Awaited<ReturnType<typeof startAll>>

const logIn = (browser: Browser) => browser.login('alice', JSON_ONLY)

/** Opens pending logins of alice, in browsers of all processes. Each comes with what it chooses. */
async function openPending({ browser }: Processes, count: number) {
  const pending: { own: Browser; choose: (code?: string) => Promise<Answer> }[] = []
  const open = async (n: number) => {
    const own = browser(n)
    const { status, text } = await logIn(own)
    if (status !== 409) throw new Error(`the login was answered ${status} ${text}`)
    const { tokens: end } = JSON.parse(text) as { tokens: string[] }
    const choose = (code?: string) => own.request('POST', CHOOSE, { json: { end, code }, headers: JSON_ONLY })
    return { own, choose }
  }
  while (pending.length < count) {
    const size = Math.min(BATCH, count - pending.length)
    const first = pending.length
    pending.push(...(await Promise.all(Array.from({ length: size }, (_, n) => open(first + n)))))
  }
  return pending
}

/** Counts answers by status. */
function countBy(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('rule 85: in several processes', () => {
  test('five of many passwords guessed at once are checked', async () => {
    const atOnce = 60
    const processes = await startAll({})
    const here = processes.browser()
    expect((await logIn(here)).status).toBe(200)
    const headers = { 'x-host-nonce': (await here.get('/nonce')).text }
    const guess = (n: number, password: string) =>
      here.copy(processes.originOf(n)).request('POST', REAUTHENTICATE, { headers, json: { password } })
    const answers = await Promise.all(Array.from({ length: atOnce }, (_, n) => guess(n, 'wrong')))
    expect(countBy(answers)).toEqual({ 403: 5, 429: atOnce - 5 })
    expect(await redis.client.get('checked:password')).toBe('5')
    const late = await guess(1, 'right')
    expect([late.status, Number(late.headers.get('retry-after')) > 300]).toEqual([429, true])
    expect(await redis.client.get('checked:password')).toBe('5')
  })

  test('twenty of many codes guessed at once are checked, and a new login still reaches the choice', async () => {
    const atOnce = 100
    const processes = await startAll({ choice: { verify: true } })
    expect((await logIn(processes.browser())).status).toBe(200)
    const pending = await openPending(processes, atOnce)
    const answers = await Promise.all(pending.map(({ choose }) => choose('wrong')))
    expect(countBy(answers)).toEqual({ 403: 20, 429: atOnce - 20 })
    expect(await redis.client.get('checked:code')).toBe('20')
    const [{ own, choose } = pending[0] as (typeof pending)[0]] = await openPending(processes, 1)
    expect((await own.get(CHOOSE, { headers: { accept: 'text/html' } })).status).toBe(200)
    const late = await choose('right')
    expect([late.status, Number(late.headers.get('retry-after')) > 300, await own.me()]).toEqual([429, true, 401])
    expect(await redis.client.get('checked:code')).toBe('20')
  })

  test('one of six choices made at once succeeds, if one is allowed in an hour', async () => {
    const processes = await startAll({ choice: { cooldown: { count: 1, minutes: 60 } } })
    const owner = processes.browser()
    expect((await logIn(owner)).status).toBe(200)
    const pending = await openPending(processes, 6)
    const answers = await Promise.all(pending.map(({ choose }) => choose()))
    expect(countBy(answers)).toEqual({ 200: 1, 429: 5 })
    const signedIn = await Promise.all(pending.map(({ own }) => own.me()))
    expect([signedIn.filter((status) => status === 200).length, await owner.me()]).toEqual([1, 401])
  })
})
