import { setImmediate as nextTurn } from 'node:timers/promises'
import { MemoryStore, type SessionData } from 'express-session'
import { createGate, type Gate } from './gates.ts'

const ANY = ''

type Done = (error?: unknown) => void

/** The memory store of express-session, which remembers every session id it was ever asked to write. */
export class TestStore extends MemoryStore {
  /** Raw session ids in the order of their writes, the ones destroyed long ago included. */
  readonly writes: string[] = []
  /** Turns of the event loop that a write takes, as over a network. */
  writeTurns = 0
  /** Turns of the event loop that a read takes. */
  readTurns = 0
  /** Answers nothing any more, as over a network that is cut. */
  silent = false
  /** What a read fails with, when it does. */
  getError: Error | undefined
  /** What destroying a session that is `undeletable` fails with. */
  readonly destroyError = new Error('The store does not destroy.')
  readonly undeletable = new Set<string | undefined>()
  readonly #heldWrites = new Map<string, Gate>()
  /** The sessions as JSON, by raw session id. */
  declare sessions: Record<string, string>

  /** A second store object on the same sessions, as another process has it. */
  twin(): TestStore {
    const twin = new TestStore()
    twin.sessions = this.sessions
    return twin
  }

  override get(sessionId: string, callback: (error: unknown, session?: SessionData | null) => void): void {
    if (this.silent) return
    if (this.getError) return callback(this.getError)
    if (this.readTurns === 0) return super.get(sessionId, callback)
    void turns(this.readTurns).then(() => super.get(sessionId, callback))
  }

  override set(sessionId: string, session: SessionData, callback?: Done): void {
    this.writes.push(sessionId)
    if (this.silent) return
    const gate = this.#heldWrites.get(sessionId) ?? this.#heldWrites.get(ANY)
    if (this.writeTurns === 0 && !gate) return super.set(sessionId, session, callback)
    this.#heldWrites.delete(sessionId)
    this.#heldWrites.delete(ANY)
    const written = JSON.parse(JSON.stringify(session))
    void Promise.all([turns(this.writeTurns), gate?.pass()]).then(() => super.set(sessionId, written, callback))
  }

  override destroy(sessionId: string, callback?: Done): void {
    if (this.silent) return
    if (this.undeletable.has(sessionId)) callback?.(this.destroyError)
    else super.destroy(sessionId, callback)
  }

  override touch(sessionId: string, session: SessionData, callback?: Done): void {
    if (!this.silent) super.touch(sessionId, session, callback)
  }

  /** Raw session ids that were ever written. */
  get everWritten(): ReadonlySet<string> {
    return new Set(this.writes)
  }

  /** Holds the next write, of one session or of any, at a gate that the test opens. */
  holdNextWrite(sessionId = ANY): Gate {
    const gate = createGate()
    this.#heldWrites.set(sessionId, gate)
    return gate
  }

  /** What the store holds under an id. */
  read(sessionId: string | undefined): Record<string, unknown> | undefined {
    const json = sessionId === undefined ? undefined : this.sessions[sessionId]
    return json === undefined ? undefined : JSON.parse(json)
  }

  ids(): string[] {
    return Object.keys(this.sessions)
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}
