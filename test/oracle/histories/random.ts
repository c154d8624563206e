import { seededRandom } from '../../support/seeded-random.ts'
import {
  BROWSERS,
  type BrowserName,
  type Command,
  type FilterName,
  type History,
  type Setup,
  USERS,
  type User,
  WHOM,
  type Whom,
} from './commands.ts'

const USER_NAMES = Object.keys(USERS) as User[]
const BROWSER_NAMES = Object.keys(BROWSERS) as BrowserName[]
const WHOM_NAMES = Object.keys(WHOM) as Whom[]
const MODES = ['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask', 'youngest', 'fussy', 'too_few', 'asks']
const FILTER_NAMES: readonly FilterName[] = [
  'bob is exempt',
  'nobody has reached the limit',
  'everybody has reached the limit',
  'two are the limit',
  'ann is only reported',
  'bob may have three',
  'bob may have no whole number',
  'the default is two in block mode',
  'cid makes a filter fail',
  'cid is exempt by a word',
]

/** No life and no wait ends at the second at which a command begins, or what comes first would be a matter of chance. */
const LIVES = [9500, 61_500, 601_500, 3_601_500, 86_401_500, 1_209_601_500]
const WAITS = [1000, 7000, 61_000, 301_000, 601_000, 3_601_000, 86_401_000, 260_001_000, 1_300_001_000, 34_700_001_000]
const SHIFTS = [1000, 7000, 61_000, 3_601_000, 86_401_000, 31_536_001_000]

/** A source of choices that are the same for the same seed. */
class Chooser {
  readonly random: () => number

  constructor(seed: number) {
    this.random = seededRandom(seed)
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit)
  }

  chance(share: number): boolean {
    return this.random() < share
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  /** Chooses by weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][]
    let left = this.random() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) {
      left -= weight
      if (left < 0) return name
    }
    return (entries.at(-1) as [Name, number])[0]
  }
}

/** Returns the random history of a number. */
export function randomHistory(seed: number): History {
  const chooser = new Chooser(seed * 2_654_435)
  const theme = chooser.weighted({ any: 6, idle: 2, tokens: 1.5, choice: 1 })
  const setup = randomSetup(chooser, theme)
  const drawer = new CommandDrawer(chooser, setup, theme)
  const length = (setup.tokens === 'none' ? 6 : 8) + chooser.below(7)
  const commands = Array.from({ length }, () => drawer.command())
  if (chooser.chance(0.05)) {
    const logins = 2 + chooser.below(4)
    commands.push({ do: 'race', user: drawer.user(), logins, life: chooser.of(LIVES), process: 0 })
  }
  return { name: `random ${seed}`, setup, commands }
}

/** What a history is about. Without themes, few would get as far as the rarer rules. */
type Theme = 'any' | 'idle' | 'tokens' | 'choice'

const LOGICS: Readonly<Record<Theme, readonly string[]>> = {
  any: MODES.slice(0, 5),
  idle: ['block', 'ask', 'logout_idlest'],
  tokens: MODES.slice(0, 5),
  choice: ['ask'],
}

function randomSetup(chooser: Chooser, theme: Theme): Setup {
  return {
    logic: chooser.of(theme !== 'any' || chooser.chance(0.85) ? LOGICS[theme] : MODES),
    maximum: chooser.chance(0.15) ? 'by user' : Number(chooser.weighted({ 1: 4, 2: 4, 3: 2, 5: 0.5 })),
    idleRelease: theme === 'idle' ? 300 : chooser.chance(0.2) ? chooser.of([300, 3600]) : 0,
    enforce: chooser.chance(0.93),
    filters: chooser.chance(0.3) ? [...new Set([chooser.of(FILTER_NAMES), chooser.of(FILTER_NAMES)])] : [],
    labels: chooser.weighted({ none: 8, 'by device': 2, 'by network': 1 }),
    device: chooser.chance(0.3),
    touchEvery: chooser.chance(0.3) ? 0 : 60_000,
    endedMemory: chooser.chance(0.05) ? 0 : 259_200,
    tokens: theme === 'tokens' ? chooser.of(['reuse ends the session', 'reuse ends all'] as const) : 'none',
    store: chooser.weighted({ memory: 9, rows: 1 }),
    processes: chooser.chance(0.25) ? 2 : 1,
    storeAhead: chooser.chance(0.1) ? chooser.of([-90_000, 90_000]) : 0,
    activity: chooser.weighted({ none: 10, after: 1, before: 1 }),
    channels: chooser.chance(0.1),
    connections: chooser.chance(0.1),
  }
}

const WEIGHTS = {
  login: 34,
  refresh: 0,
  request: 18,
  'old request': 3,
  logout: 4,
  adopt: 3,
  'adopt again': 2,
  lose: 2,
  stick: 1,
  end: 4,
  'end others': 3,
  'end all': 3,
  'log all out': 3,
  erase: 1.2,
  set: 4,
  reset: 0.7,
  'open choice': 2.5,
  choose: 3,
  'put back': 0.5,
  explain: 2,
  page: 0.7,
  wait: 7,
  'set clock': 1.2,
  restart: 0.8,
  uninstall: 0.2,
} as const
const WEIGHTS_OF: Readonly<Record<Theme, Readonly<Record<keyof typeof WEIGHTS, number>>>> = {
  any: WEIGHTS,
  idle: { ...WEIGHTS, login: 40, request: 30, wait: 30 },
  tokens: { ...WEIGHTS, login: 12, refresh: 45, wait: 18, adopt: 0, 'adopt again': 0, lose: 0, stick: 0 },
  choice: { ...WEIGHTS, 'open choice': 10, choose: 14, 'put back': 2 },
}

/** Draws the commands of a history. A user mostly keeps to some browsers. */
class CommandDrawer {
  readonly #chooser: Chooser
  readonly #setup: Setup
  readonly #theme: Theme
  readonly #users: readonly User[]
  readonly #life: number
  /** Browsers that have probably a session. */
  readonly #used: BrowserName[] = []

  constructor(chooser: Chooser, setup: Setup, theme: Theme) {
    this.#chooser = chooser
    this.#setup = setup
    this.#theme = theme
    this.#users = USER_NAMES.slice(0, Number(chooser.weighted({ 1: 5, 2: 3, 3: 2 })))
    this.#life = chooser.of(theme === 'idle' ? LIVES.slice(3) : LIVES)
  }

  user(): User {
    return this.#chooser.chance(0.6) ? (this.#users[0] as User) : this.#chooser.of(this.#users)
  }

  command(): Command {
    const chooser = this.#chooser
    const weights = WEIGHTS_OF[this.#theme]
    // Without a session, little can happen.
    const what = this.#used.length === 0 && chooser.chance(0.7) ? 'login' : chooser.weighted(weights)
    const process = (this.#setup.processes === 2 ? chooser.below(2) : 0) as 0 | 1
    return { process, ...this.#draw(what as Exclude<Command['do'], 'race'>) } as Command
  }

  #draw(what: Exclude<Command['do'], 'race'>): object {
    const chooser = this.#chooser
    const [user, browser, whom] = [this.user(), this.#browserFor(what), chooser.of(WHOM_NAMES)]
    const life = chooser.chance(this.#theme === 'idle' ? 0.9 : 0.6) ? this.#life : chooser.of(LIVES)
    switch (what) {
      case 'login':
        return { do: what, ...this.#login(user, browser, life) }
      case 'request':
        return { do: what, browser, how: chooser.of(['check', 'load']), touch: chooser.chance(0.7) ? life : 0 }
      case 'adopt':
        return { do: what, user, browser, life }
      case 'adopt again':
        return { do: what, browser, life }
      case 'stick':
        return { do: what, browser, on: chooser.chance(0.8) }
      case 'refresh':
        return { do: what, browser, back: chooser.chance(0.6) ? 0 : 1 + chooser.below(2) }
      case 'end':
      case 'end others':
        return { do: what, user, browser, whom }
      case 'end all':
      case 'erase':
        return { do: what, user, whom }
      case 'log all out':
        return { do: what, ...(chooser.chance(0.5) && { keep: browser }), whom }
      case 'set':
        return { do: what, changes: this.#changes() }
      case 'reset':
        return {
          do: what,
          ...(chooser.chance(0.6) && { key: chooser.of(['maximum', 'logic', 'idle_release', 'enforce']) }),
        }
      case 'open choice':
        return { do: what, user, browser, seconds: chooser.of([60, 300, 900]) }
      case 'choose':
        return { do: what, browser, life, choice: chooser.of(['oldest', 'youngest', 'too few', 'none']) }
      case 'explain': {
        const assumed = {
          ...(chooser.chance(0.3) && { mode: chooser.of(MODES) }),
          ...(chooser.chance(0.3) && { maximum: 1 }),
        }
        return { do: what, user, browser, ...assumed }
      }
      case 'page':
        return { do: what, user, limit: 1 + chooser.below(2) }
      case 'wait':
        return {
          do: what,
          ms: chooser.of(
            this.#theme === 'idle' || this.#theme === 'tokens'
              ? WAITS.slice(2, 5)
              : chooser.chance(0.7)
                ? WAITS.slice(0, 6)
                : WAITS,
          ),
        }
      case 'set clock':
        return { do: what, ms: (chooser.chance(0.5) ? 1 : -1) * chooser.of(SHIFTS) }
      case 'restart':
        return { do: what, empty: chooser.chance(0.5) }
      case 'uninstall':
        return { do: what }
      default:
        return { do: what, browser }
    }
  }

  /** Chooses a browser: a login may be in any, everything else is mostly in one that has a session. */
  #browserFor(what: Command['do']): BrowserName {
    const chooser = this.#chooser
    const isLogin = what === 'login' || what === 'adopt'
    // Tokens are rotated again and again, so most are of the same browsers.
    const share = this.#theme === 'tokens' ? 0.3 : 0.7
    const isAny = this.#used.length === 0 || chooser.chance(isLogin ? share : 0.06)
    const browser = isAny ? chooser.of(BROWSER_NAMES) : chooser.of(this.#used)
    if (isLogin) this.#used.push(browser)
    return browser
  }

  #login(user: User, browser: BrowserName, life: number): object {
    const chooser = this.#chooser
    const ends = chooser.chance(0.15) ? [chooser.of(this.#used), chooser.of(this.#used)] : []
    const isHeld = this.#setup.processes === 2 && chooser.chance(0.15)
    return {
      user,
      browser,
      life,
      replaces: chooser.chance(0.4),
      continues: chooser.chance(0.3),
      ends,
      ...(isHeld && { meanwhile: this.#meanwhile(user) }),
      ...(chooser.chance(0.02) && { fails: chooser.of(['create', 'life']) }),
    }
  }

  /** Draws what the other process does while a login is under way. */
  #meanwhile(user: User): Command {
    const chooser = this.#chooser
    const what = chooser.weighted({
      login: 4,
      'end all': 2,
      'end others': 1,
      'log all out': 2,
      logout: 1,
      erase: 0.5,
      set: 1,
    })
    const drawn = what === 'login' ? this.#plainLogin(user) : this.#draw(what)
    return { process: 1, ...drawn } as Command
  }

  #plainLogin(user: User): object {
    const browser = this.#chooser.of(BROWSER_NAMES)
    return { do: 'login', user, browser, life: this.#life, replaces: false, continues: false, ends: [] }
  }

  #changes(): object {
    const chooser = this.#chooser
    if (chooser.chance(0.08)) return { maximum: 0, logic: 'nonsense' }
    const changes = {
      maximum: chooser.of([1, 2, 3, '2']),
      logic: chooser.of(MODES.slice(0, 5)),
      idle_release: chooser.of([0, 300, 3600]),
      enforce: chooser.chance(0.7),
    }
    const chosen = Object.entries(changes).filter(() => chooser.chance(0.35))
    return Object.fromEntries(chosen)
  }
}
