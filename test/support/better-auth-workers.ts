import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { killProcess } from './kill-process.ts'
import { startPostgres } from './postgres-server.ts'
import { startRedis } from './redis-server.ts'

const PROGRAM = fileURLToPath(new URL('better-auth-process.mjs', import.meta.url))
const MAXIMUM = 2

interface Message {
  readonly ready?: true
  readonly cookie?: string
  readonly statuses?: Readonly<Record<string, number>>
  readonly live?: number
  readonly slots?: number
}

/** A process of the application, whose messages are read one after the other. */
class Worker {
  readonly child: ChildProcess
  readonly cookies: string[] = []
  readonly #messages: Message[] = []
  #wake = () => {}

  constructor(kind: string, place: string, isFirst: boolean, logins: number) {
    const settings = { kind, place, isFirst, logins, inFlight: 20, maximum: MAXIMUM }
    const env = { ...process.env, SIGN_INS: JSON.stringify(settings) }
    this.child = spawn(process.execPath, [PROGRAM], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => killProcess(this.child))
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const message: Message = JSON.parse(line)
      if (message.cookie) this.cookies.push(message.cookie)
      else this.#messages.push(message)
      this.#wake()
    })
  }

  async next(): Promise<Message> {
    while (this.#messages.length === 0) await this.waited()
    return this.#messages.shift() as Message
  }

  waited(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  tell(message: object): void {
    this.child.stdin?.write(`${JSON.stringify(message)}\n`)
  }
}

/** Where the sessions and the limiter's data are. */
export const PLACES = {
  async redis() {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    return server.url
  },
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'sessmgr-better-auth-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'sessmgr.db')
  },
  async postgres() {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    return server.host
  },
}

/** Signs in `logins` times in each of three processes, kills one of them meanwhile, and expects an exact limit. */
export async function expectExactProcesses(kind: keyof typeof PLACES, logins: number): Promise<void> {
  const place = await PLACES[kind]()
  const first = new Worker(kind, place, true, logins)
  expect(await first.next()).toEqual({ ready: true })
  const workers = [first, new Worker(kind, place, false, logins), new Worker(kind, place, false, logins)]
  for (const worker of workers.slice(1)) expect(await worker.next()).toEqual({ ready: true })
  const victim = workers[2] as Worker
  for (const worker of workers) worker.tell({ start: true })
  while (victim.cookies.length < logins / 3) await victim.waited()
  await killProcess(victim.child)
  for (const worker of workers.slice(0, 2)) expect(await worker.next()).toEqual({ statuses: { 200: logins } })
  first.tell({ cookies: workers.flatMap((worker) => worker.cookies) })
  const { live, slots } = await first.next()
  // A session of the killed process may be registered although nobody has received its cookie.
  expect([live, slots]).toSatisfy(([found, taken]) => found > 0 && found <= taken && taken <= MAXIMUM)
  // A slot whose session nobody has is taken over by later logins.
  first.tell({ start: true })
  expect(await first.next()).toEqual({ statuses: { 200: logins } })
  first.tell({ cookies: workers.flatMap((worker) => worker.cookies) })
  expect(await first.next()).toEqual({ live: MAXIMUM, slots: MAXIMUM })
}
