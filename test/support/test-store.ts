import { setImmediate as nextTurn } from 'node:timers/promises'
import { MemoryStore, type SessionData } from 'express-session'
import { createGate, type Gate } from './gates.ts'

const ANY = ''

type Done = (error?: unknown) => void

/** The memory store of express-session, which also records the id of every written session. */
export class TestStore extends MemoryStore {
  /** Raw session ids in the order of their writes, including destroyed sessions. */
  readonly writes: string[] = []
  /** Turns of the event loop that a write takes, as over a network. */
  writeTurns = 0
  /** Turns of the event loop that a read takes. */
  readTurns = 0
  /** How often a session was read. */
  reads = 0
  /** Whether the store no longer responds, as over a cut network. */
  silent = false
  /** The error with which reads fail, if set. */
  getError: Error | undefined
  /** The error with which destroying an `undeletable` session fails. */
  readonly destroyError = new Error('The store does not destroy.')
  readonly undeletable = new Set<string | undefined>()
  readonly #heldWrites = new Map<string, Gate>()
  /** The sessions as JSON, by raw session id. */
  declare sessions: Record<string, string>

  /** Returns a second store object with the same sessions, as in another process. */
  twin(): TestStore {
    const twin = new TestStore()
    twin.sessions = this.sessions
    return twin
  }

  override get(sessionId: string, callback: (error: unknown, session?: SessionData | null) => void): void {
    this.reads += 1
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

  /** Returns the stored data of a session id. */
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
