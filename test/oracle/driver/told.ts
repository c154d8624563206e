import diagnostics from 'node:diagnostics_channel'
import { hookCatalogue, type SessionEnd, type SessionStart, type Sessmgr } from '../../../src/index.ts'

/** What is compared after each command, each part as lines in order. */
export interface Told {
  /** What the caller gets: admitted, refused, asked, live, ended and why, a number, or the code of an error. */
  readonly outcome: string
  /** Each session that has ended, with the kind of its end. */
  readonly kinds: readonly string[]
  /** Actions, in order. */
  readonly events: readonly string[]
  /** Messages of the diagnostics channels, in order. */
  readonly channels: readonly string[]
  /** Questions to filters, in order. */
  readonly filters: readonly string[]
  /** What the application does and is told to do with its sessions, in order. */
  readonly sessions: readonly string[]
  /** Open connections that were closed, and why. */
  readonly connections: readonly string[]
  /** Live sessions of each user, oldest first. */
  readonly live: readonly string[]
}
export type Part = keyof Told

const NOTHING: readonly string[] = []
const TOKEN = /[0-9a-f]{64}/g
const CHANNELS = ['session.started', 'session.ended', 'login.refused', 'login.would_limit']

/** Hears everything that a service tells, and names sessions in it. */
export class Listener {
  readonly #names = new Map<string, string>()
  readonly heard = {
    kinds: [] as string[],
    events: [] as string[],
    channels: [] as string[],
    filters: [] as string[],
    sessions: [] as string[],
    connections: [] as string[],
  }
  readonly #leave: (() => void)[] = []

  name(token: string, name: string): void {
    this.#names.set(token, name)
  }

  /** Replaces each token by the name of its session. */
  named(text: string): string {
    return text.length < 64 ? text : text.replaceAll(TOKEN, (token) => this.#names.get(token) ?? 'a strange session')
  }

  /** Subscribes to all actions of a process. */
  listen({ hooks }: Sessmgr): void {
    for (const name of Object.keys(hookCatalogue.actions) as (keyof typeof hookCatalogue.actions)[]) {
      if (name.endsWith('_init') || name.includes('comment')) continue
      hooks.addAction(name, 'oracle', (...given: unknown[]) => {
        // The time of a site-wide logout is not compared.
        const words = name === 'sessmgr_logout_all_users' ? '' : given.map(inWords).join(' ')
        this.heard.events.push(`${name.replace('sessmgr_', '')} ${words}`.trim())
        if (name !== 'sessmgr_session_ended') return
        const [{ token }, { kind }] = given as [{ token: string }, SessionEnd]
        this.heard.kinds.push(`${token} ${kind}`)
      })
    }
  }

  /** Subscribes to the diagnostics channels, which all services of this thread share. */
  tune(): void {
    for (const name of CHANNELS) {
      const hear = (message: unknown) => void this.heard.channels.push(`${name} ${inWords(message)}`)
      diagnostics.subscribe(`sessmgr.${name}`, hear)
      this.#leave.push(() => diagnostics.unsubscribe(`sessmgr.${name}`, hear))
    }
    const done = (message: unknown) => {
      const { mode = '', tries = 0, displaced = '', result = '' } = message as Record<string, unknown>
      this.heard.channels.push(`login ${mode} ${Number(tries) > 1 ? 'again ' : ''}${displaced} ${result}`)
    }
    diagnostics.subscribe('tracing:sessmgr.login:asyncEnd', done)
    this.#leave.push(() => diagnostics.unsubscribe('tracing:sessmgr.login:asyncEnd', done))
  }

  leave(): void {
    for (const leave of this.#leave) leave()
  }

  /** Returns what was heard since the last call. */
  take(outcome: string, live: readonly string[]): Told {
    const { heard } = this
    const take = (part: keyof typeof heard) => {
      if (heard[part].length === 0) return NOTHING
      return this.named(heard[part].splice(0).join('\n')).split('\n')
    }
    return {
      outcome: this.named(outcome),
      kinds: take('kinds').toSorted(),
      events: take('events'),
      channels: take('channels'),
      filters: take('filters'),
      sessions: take('sessions'),
      connections: take('connections').toSorted(),
      live: live.map((line) => this.named(line)),
    }
  }
}

/** Returns a parameter of an action in words, without times, addresses of memory and everything random. */
export function inWords(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(inWords).join(' ')}]`
  const { token, kind, adopted, maximum, live, ...others } = value as Record<string, unknown>
  if (typeof kind === 'string')
    return `${endInWords(value as SessionEnd)}${'session' in others ? ` ${inWords(others.session)}` : ''}`
  if (typeof adopted === 'boolean') return startInWords(value as SessionStart & { session?: unknown })
  if (typeof token === 'string') return recordInWords(value as Parameters<typeof recordInWords>[0])
  return fieldsInWords({ maximum, live, ...others })
}

/** Returns the fields of an object in words, by their names. */
export function fieldsInWords(fields: object): string {
  const left = Object.entries(fields).filter(([, value]) => value !== undefined)
  return left.map(([name, value]) => `${name} ${inWords(value)}`).join(' ')
}

function recordInWords(given: {
  token: string
  userId?: unknown
  ip?: unknown
  device?: unknown
  generation?: unknown
}) {
  const { token, userId, ip, device, generation } = given
  return `${token} of ${userId}${ip ? ` at ${ip}` : ''}${device ? ' on a known device' : ''} generation ${generation}`
}

function endInWords({ kind, by, note }: SessionEnd): string {
  const { actor, token, device, ip } = by ?? {}
  const whom = [actor && `actor ${actor}`, token, device, ip].filter((one) => one !== undefined && one !== null)
  return `${kind}${whom.length > 0 ? ` by ${whom.join(' ')}` : ''}${note === undefined ? '' : ` "${note}"`}`
}

function startInWords({ replaced, displaced, adopted, session }: SessionStart & { session?: unknown }): string {
  const how = [
    replaced && `replaces ${replaced}`,
    displaced.length > 0 && `displaces ${displaced.join(' ')}`,
    adopted && 'adopted',
    session && inWords(session),
  ]
  return how.filter(Boolean).join(' ')
}
