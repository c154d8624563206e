/** Users by name, with the ids that the application gives them: strings and a number. */
export const USERS = { ann: 'ann', bob: 7, cid: 'cid@example.com' } as const
export type User = keyof typeof USERS

/** Browsers by name: what they send as `User-Agent`, and from where. */
export const BROWSERS = {
  laptop: ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0 Safari/537.36', '10.0.0.1'],
  phone: [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Safari/604.1',
    '10.0.0.2',
  ],
  office: ['Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0', '::ffff:10.0.0.3'],
  tablet: [
    'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Safari/604.1',
    '2001:db8::4',
  ],
  script: [null, null],
} as const
export type BrowserName = keyof typeof BROWSERS

/** On whose behalf sessions end. */
export const WHOM = {
  app: undefined,
  admin: { by: 'admin', actor: 'root', note: 'Your account was locked.' },
  user: { by: 'user', actor: 'ann', device: 'Chrome on Windows' },
} as const
export type Whom = keyof typeof WHOM

/** Subscribers to filters, by name; see `driver/filters.ts`. */
export type FilterName =
  | 'bob is exempt'
  | 'nobody has reached the limit'
  | 'everybody has reached the limit'
  | 'two are the limit'
  | 'ann is only reported'
  | 'bob may have three'
  | 'bob may have no whole number'
  | 'the default is two in block mode'
  | 'cid makes a filter fail'
  | 'cid is exempt by a word'

/** How an application has set up sessmgr. */
export interface Setup {
  readonly logic: string
  readonly maximum: number | 'by user'
  readonly idleRelease: number
  readonly enforce: boolean
  readonly filters: readonly FilterName[]
  /** Limits per label, by the kind of device or by the network of the client. */
  readonly labels: 'none' | 'by device' | 'by network'
  /** Whether browsers are recognized by a cookie. */
  readonly device: boolean
  readonly touchEvery: number
  readonly endedMemory: number
  /** Sessions of access and refresh tokens, instead of sessions in a store of the application. */
  readonly tokens: 'none' | 'reuse ends the session' | 'reuse ends all'
  /** Where sessmgr keeps its data: in memory, or as documents in rows, as in a database. */
  readonly store: 'memory' | 'rows'
  /** How many processes share the store. Commands alternate between them as they say. */
  readonly processes: 1 | 2
  /** How far the clock of sessmgr's store is ahead of that of the processes, in milliseconds. */
  readonly storeAhead: number
  /** Whether there is an activity log, and whether logins wait for it. */
  readonly activity: 'none' | 'after' | 'before'
  /** Whether somebody listens to the diagnostics channels. */
  readonly channels: boolean
  /** Whether each session has an open connection that closes with it. */
  readonly connections: boolean
}

/** One command of a history. Each names its browser, and so a session: the one that this browser has. */
export type Command = { readonly process: 0 | 1 } & (
  | {
      readonly do: 'login'
      readonly user: User
      readonly browser: BrowserName
      readonly life: number
      /** Whether the login names the browser's session, which it then replaces. */
      readonly replaces: boolean
      /** Whether the login continues what the last request of this browser found. */
      readonly continues: boolean
      /** Whose sessions the user chose to end: those of these browsers. */
      readonly ends: readonly BrowserName[]
      /** What happens while the application creates the session, in the other process. */
      readonly meanwhile?: Command
      readonly fails?: 'create' | 'life'
    }
  | { readonly do: 'request'; readonly browser: BrowserName; readonly how: 'check' | 'load'; readonly touch: number }
  | { readonly do: 'old request'; readonly browser: BrowserName }
  | { readonly do: 'logout'; readonly browser: BrowserName }
  | { readonly do: 'adopt'; readonly user: User; readonly browser: BrowserName; readonly life: number }
  | { readonly do: 'adopt again'; readonly browser: BrowserName; readonly life: number }
  | { readonly do: 'lose'; readonly browser: BrowserName }
  | { readonly do: 'stick'; readonly browser: BrowserName; readonly on: boolean }
  | { readonly do: 'refresh'; readonly browser: BrowserName; readonly back: number }
  | { readonly do: 'end'; readonly user: User; readonly browser: BrowserName; readonly whom: Whom }
  | { readonly do: 'end others'; readonly user: User; readonly browser: BrowserName; readonly whom: Whom }
  | { readonly do: 'end all'; readonly user: User; readonly whom: Whom }
  | { readonly do: 'log all out'; readonly keep?: BrowserName; readonly whom: Whom }
  | { readonly do: 'erase'; readonly user: User; readonly whom: Whom }
  | { readonly do: 'set'; readonly changes: Readonly<Record<string, unknown>> }
  | { readonly do: 'reset'; readonly key?: 'maximum' | 'logic' | 'idle_release' | 'enforce' }
  | { readonly do: 'open choice'; readonly user: User; readonly browser: BrowserName; readonly seconds: number }
  | {
      readonly do: 'choose'
      readonly browser: BrowserName
      readonly life: number
      /** The sessions to end: as many as needed, one fewer, or none, the oldest or the youngest. */
      readonly choice: 'oldest' | 'youngest' | 'too few' | 'none'
    }
  | { readonly do: 'put back'; readonly browser: BrowserName }
  | {
      readonly do: 'explain'
      readonly user: User
      readonly browser: BrowserName
      readonly mode?: string
      readonly maximum?: number
    }
  | { readonly do: 'page'; readonly user: User; readonly limit: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'set clock'; readonly ms: number }
  | { readonly do: 'restart'; readonly empty: boolean }
  | { readonly do: 'uninstall' }
  /** Logins at the same time. Of what they lead to, only numbers are compared, and the history ends. */
  | { readonly do: 'race'; readonly user: User; readonly logins: number; readonly life: number }
)

/** A history: commands from an empty store. */
export interface History {
  readonly name: string
  readonly setup: Setup
  readonly commands: readonly Command[]
}

/** Returns the users of a history. */
export function usersOf({ commands }: History): readonly User[] {
  const inner = commands.flatMap((command) => ('meanwhile' in command && command.meanwhile ? [command.meanwhile] : []))
  const named = [...commands, ...inner].flatMap((command) => ('user' in command ? [command.user] : []))
  return (Object.keys(USERS) as User[]).filter((user) => named.includes(user))
}

/** A setup with nothing special. */
export const PLAIN: Setup = {
  logic: 'allow',
  maximum: 1,
  idleRelease: 0,
  enforce: true,
  filters: [],
  labels: 'none',
  device: false,
  touchEvery: 60_000,
  endedMemory: 259_200,
  tokens: 'none',
  store: 'memory',
  processes: 1,
  storeAhead: 0,
  activity: 'none',
  channels: false,
  connections: false,
}

/** Returns a setup in words: only what differs from the plain one. */
export function setupInWords(setup: Setup): string {
  const told = Object.entries(setup).filter(([name, value]) => {
    const plain = PLAIN[name as keyof Setup]
    return name === 'logic' || name === 'maximum' || JSON.stringify(plain) !== JSON.stringify(value)
  })
  return told.map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ')
}

/** Returns a command in words. */
export function commandInWords(command: Command): string {
  const { do: what, process, ...given } = command
  const words = Object.entries(given).flatMap(([name, value]) => {
    if (value === false || value === undefined || (Array.isArray(value) && value.length === 0)) return []
    if (name === 'meanwhile') return [`meanwhile (${commandInWords(value as Command)})`]
    if (name === 'user' || name === 'browser') return [String(value)]
    if (value === true) return [name]
    return [`${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`]
  })
  return [what, ...words, ...(process === 1 ? ['(process 2)'] : [])].join(' ')
}
