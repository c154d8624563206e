import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { tokenOf } from '../../../src/index.ts'
import { describeAnswers } from '../../behaviour/hosts/answer-suite.ts'
import { describeLogins } from '../../behaviour/hosts/login-suite.ts'
import { describeSessions } from '../../behaviour/hosts/session-suite.ts'
import { type Answer, Browser, type Carried } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import type { HostSetup, HostUnderTest } from '../../support/host-under-test.ts'
import type { JsonSessions } from '../../support/json-sessions.ts'
import { Listener } from '../driver/told.ts'
import { describe, registered, runTest } from './vitest.ts'

/** The transcript of a test: a line for each request, and for what is told with it. */
export interface HostTranscript {
  readonly name: string
  readonly lines: readonly string[]
}

/** Records what the hosts of one test are asked and tell. */
class HostRecorder {
  readonly listener = new Listener()
  readonly lines: string[] = []
  readonly #hosts: HostUnderTest[] = []
  readonly #known = new Set<JsonSessions>()
  readonly #names = new Map<string, string>()

  async start(setup: HostSetup): Promise<HostUnderTest> {
    if (setup.sessions) this.#follow(setup.sessions)
    const host = await startExpressHost(setup)
    this.#hosts.push(host)
    if (!setup.unlimited) this.listener.listen(host.limiter)
    return host
  }

  /** Notes a request, with everything that was told since the one before. */
  async note(method: string, path: string, { status, location, text }: Answer): Promise<void> {
    const body = /^\/(state|me|cart|messages|login)/.test(path) || status >= 400 ? ` ${withoutTimes(text)}` : ''
    const outcome = `${status}${location === null ? '' : ` to ${location}`}${body}`
    const told = this.listener.take(outcome, await this.#live())
    this.lines.push(`${method} ${path} -> ${told.outcome}`)
    for (const part of ['kinds', 'events', 'sessions', 'live'] as const) {
      if (told[part].length > 0) this.lines.push(`  ${part}: ${told[part].join('; ')}`)
    }
  }

  async #live(): Promise<readonly string[]> {
    const [host] = this.#hosts
    // A moment for what happens after the response.
    await sleep(20)
    const lists = [2, 3].map(async (user) => {
      const sessions = await host?.limiter.sessions.list(user).catch(() => [{ token: 'unknown' }])
      return sessions?.length ? [`${user}: ${sessions.map(({ token }) => token).join(' ')}`] : []
    })
    return (await Promise.all(lists)).flat()
  }

  #follow(sessions: JsonSessions): void {
    if (this.#known.has(sessions)) return
    this.#known.add(sessions)
    const open = sessions.forCallbacks.bind(sessions)
    const told = this.listener.heard.sessions
    sessions.forCallbacks = () => {
      const { get, set, destroy } = open()
      return {
        get,
        set: (id, data, done) => {
          told.push(`set ${this.#nameOf(id)}`)
          set(id, data, done)
        },
        destroy: (id, done) => {
          told.push(`destroy ${this.#nameOf(id)}`)
          destroy(id, done)
        },
      }
    }
  }

  /** Names sessions in the order in which they come. */
  #nameOf(sessionId: string): string {
    const name = this.#names.get(sessionId) ?? `s${this.#names.size + 1}`
    this.#names.set(sessionId, name)
    this.listener.name(tokenOf(sessionId), name)
    return name
  }
}

function withoutTimes(text: string): string {
  return text
    .replaceAll(/"(at|time|until)":"?[^,}]*/g, '"$1":')
    .replaceAll('\n', ' ')
    .slice(0, 300)
}

let recorder = new HostRecorder()

function recordRequests(): void {
  const { request } = Browser.prototype
  Browser.prototype.request = async function (this: Browser, method: string, path: string, carried: Carried) {
    const answer = await request.call(this, method, path, carried)
    await recorder.note(method, path, answer)
    return answer
  }
}

/** Runs the host suite on Express, or the tests of these names, and returns what each has told. */
async function runSuites(only?: readonly string[]): Promise<readonly HostTranscript[]> {
  const transcripts: HostTranscript[] = []
  for (const test of registered) {
    if (only && !only.includes(test.name)) continue
    recorder = new HostRecorder()
    // A test that fails has told something before that.
    const error = await runTest(test).then(() => undefined, String)
    transcripts.push({
      name: test.name,
      lines: [...recorder.lines, ...(error ? [`fails: ${error.slice(0, 100)}`] : [])],
    })
  }
  return transcripts
}

if (parentPort) {
  const port = parentPort
  recordRequests()
  const start = (setup: HostSetup) => recorder.start(setup)
  describe('on Express', () => {
    describeLogins(start)
    describeSessions(start)
    describeAnswers(start)
  })
  port.on('message', async (only?: readonly string[]) => port.postMessage(await runSuites(only)))
}
