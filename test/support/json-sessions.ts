import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGate, type Gate } from './gates.ts'

type Done = (error?: unknown) => void

/** Sessions stored as JSON, with the store interfaces of several frameworks, and slow as over a network. */
export class JsonSessions {
  readonly sessions = new Map<string, string>()
  /** How often each session was written. */
  readonly writes = new Map<string, number>()
  /** The error with which every call fails, if set. */
  failure: NodeJS.ErrnoException | undefined
  /** Called before each call takes effect, which waits for it and fails with it. */
  disturb: ((sessionId: string) => unknown) | undefined
  #heldWrite: Gate | undefined
  #heldDestroy: Gate | undefined

  /** Holds the next write at a gate that the test opens. */
  holdNextWrite(): Gate {
    this.#heldWrite = createGate()
    return this.#heldWrite
  }

  /** Holds the next removal at a gate that the test opens. */
  holdNextDestroy(): Gate {
    this.#heldDestroy = createGate()
    return this.#heldDestroy
  }

  ids(): string[] {
    return [...this.sessions.keys()]
  }

  read(sessionId: string | undefined): Record<string, unknown> | undefined {
    const json = this.sessions.get(sessionId ?? '')
    return json === undefined ? undefined : JSON.parse(json)
  }

  /** The store of express-session and @fastify/session. */
  forCallbacks() {
    return {
      get: (sessionId: string, done: (error: unknown, data?: unknown) => void) => {
        this.#get(sessionId).then((data) => done(null, data), done)
      },
      set: (sessionId: string, data: unknown, done: Done = () => {}) => {
        this.#set(sessionId, JSON.stringify(data)).then(() => done(), done)
      },
      destroy: (sessionId: string, done: Done = () => {}) => {
        this.#destroy(sessionId).then(() => done(), done)
      },
    }
  }

  /** The store of koa-session. */
  forPromises() {
    return {
      get: (sessionId: string) => this.#get(sessionId),
      set: (sessionId: string, data: unknown) => this.#set(sessionId, JSON.stringify(data)),
      destroy: (sessionId: string) => this.#destroy(sessionId),
    }
  }

  async #get(sessionId: string): Promise<Record<string, unknown> | undefined> {
    await this.#call(sessionId)
    return this.read(sessionId)
  }

  async #set(sessionId: string, json: string): Promise<void> {
    const held = this.#heldWrite
    this.#heldWrite = undefined
    this.writes.set(sessionId, (this.writes.get(sessionId) ?? 0) + 1)
    await held?.pass()
    await this.#call(sessionId)
    this.sessions.set(sessionId, json)
  }

  async #destroy(sessionId: string): Promise<void> {
    const held = this.#heldDestroy
    this.#heldDestroy = undefined
    await held?.pass()
    await this.#call(sessionId)
    this.sessions.delete(sessionId)
  }

  async #call(sessionId: string): Promise<void> {
    await nextTurn()
    await this.disturb?.(sessionId)
    // The error of a file store contains the path of the file.
    if (this.failure)
      throw Object.assign(new Error(`${this.failure.message}: ${sessionId}`), { code: this.failure.code })
  }
}
