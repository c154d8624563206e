import { BROWSERS, type BrowserName, type Command, type History, PLAIN, type Setup, type User } from './commands.ts'

/** The built-in modes. */
const MODES = ['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask']
const ALL = Object.keys(BROWSERS) as BrowserName[]
const DAY = 86_401_500

type Login = Extract<Command, { readonly do: 'login' }>

/** The commands, with what most of them have in common. */
const login = (user: User, browser: BrowserName, more: Partial<Login> = {}): Login => ({
  do: 'login',
  process: 0,
  user,
  browser,
  life: DAY,
  replaces: false,
  continues: false,
  ends: [],
  ...more,
})
const request = (browser: BrowserName, touch = DAY, how: 'check' | 'load' = 'check'): Command => ({
  do: 'request',
  process: 0,
  browser,
  how,
  touch,
})
const requests = (...browsers: BrowserName[]): Command[] => browsers.map((browser) => request(browser))
const wait = (ms: number): Command => ({ do: 'wait', process: 0, ms })
const of = <Name extends Command['do']>(
  name: Name,
  given: Omit<Extract<Command, { readonly do: Name }>, 'do' | 'process'>,
  process: 0 | 1 = 0,
) => ({ do: name, process, ...given }) as Command
const endAll = (user: User) => of('end all', { user, whom: 'admin' })
const logAllOut = (keep?: BrowserName) => of('log all out', { whom: 'admin', ...(keep && { keep }) })

const history = (name: string, setup: Partial<Setup>, commands: readonly Command[]): History => ({
  name,
  setup: { ...PLAIN, ...setup },
  commands,
})
const BLOCK = { logic: 'block', maximum: 1 }
const OLDEST = { logic: 'logout_oldest', maximum: 1 }

/** What the suite of the hosts asks, on explicit calls. */
const ofHosts: readonly History[] = [
  history('a login is a session of its user, and goes on being one', { ...BLOCK, maximum: 2 }, [
    login('ann', 'laptop'),
    request('laptop'),
    request('laptop', DAY, 'load'),
  ]),
  history('by logout_oldest, a login ends the oldest session', OLDEST, [
    login('ann', 'laptop'),
    login('ann', 'phone'),
    ...requests('laptop', 'laptop', 'phone'),
  ]),
  history('rule 11: a blocked login disturbs nobody', BLOCK, [
    login('ann', 'laptop'),
    login('bob', 'phone'),
    login('ann', 'phone'),
    ...requests('laptop', 'phone'),
  ]),
  ...MODES.map((logic) =>
    history(`rule 11: a login loses its slot at the last moment, ${logic}`, { logic, processes: 2 }, [
      login('ann', 'laptop', { meanwhile: login('ann', 'phone', { process: 1 }) }),
      ...requests('laptop', 'phone'),
    ]),
  ),
  history('rule 7: a login that is long in creating its session keeps the slot', { ...BLOCK, processes: 2 }, [
    login('ann', 'laptop'),
    login('ann', 'laptop', { replaces: true, meanwhile: login('ann', 'phone', { process: 1 }) }),
    ...requests('laptop', 'phone'),
  ]),
  history('rule 7: a login in the same browser replaces its session', BLOCK, [
    login('ann', 'laptop'),
    request('laptop'),
    login('ann', 'laptop', { replaces: true, continues: true }),
    request('laptop'),
    of('old request', { browser: 'laptop' }),
  ]),
  history('a login as somebody else ends the session that was there', BLOCK, [
    login('ann', 'laptop'),
    of('logout', { browser: 'laptop' }),
    login('bob', 'laptop', { replaces: true }),
    request('laptop'),
    of('old request', { browser: 'laptop' }),
  ]),
  history(
    'rule 16: a site-wide logout ends every session once, and a login after it is good',
    { ...BLOCK, maximum: 5 },
    [
      login('ann', 'laptop'),
      login('ann', 'phone'),
      login('bob', 'office'),
      logAllOut(),
      login('bob', 'tablet'),
      ...requests('laptop', 'laptop', 'phone', 'office', 'tablet'),
      login('ann', 'laptop'),
      request('laptop'),
    ],
  ),
  history('decision 71: an ended session leaves its browser anonymous, request after request', OLDEST, [
    login('ann', 'laptop'),
    logAllOut(),
    ...requests('laptop', 'laptop', 'laptop'),
  ]),
  history('rule 13: a session from before the limit is adopted, and counts', BLOCK, [
    of('adopt', { user: 'ann', browser: 'laptop', life: DAY }),
    login('ann', 'phone'),
    request('laptop'),
  ]),
  history('rule 13: a session from before the limit is stale after a site-wide logout', BLOCK, [
    logAllOut(),
    of('adopt', { user: 'ann', browser: 'laptop', life: DAY }),
    request('laptop'),
    login('ann', 'phone'),
  ]),
  history('rule 14: a logout frees the slot at once', BLOCK, [
    login('ann', 'laptop'),
    of('logout', { browser: 'laptop' }),
    of('old request', { browser: 'laptop' }),
    login('ann', 'phone'),
  ]),
  ...(
    [
      ['a login that displaces it', login('ann', 'phone')],
      ['an administrator', endAll('ann')],
      ['a site-wide logout', logAllOut()],
      ['an erasure', of('erase', { user: 'ann', whom: 'app' })],
    ] as const
  ).map(([way, end]) =>
    history(`a slow request whose session is ended meanwhile by ${way} does not bring it back`, OLDEST, [
      login('ann', 'laptop'),
      request('laptop'),
      end,
      login('ann', 'laptop', { continues: true }),
      of('adopt again', { browser: 'laptop', life: DAY }),
      ...requests('laptop', 'phone'),
    ]),
  ),
  history('a login that fails, or whose life is wrong, leaves nothing', OLDEST, [
    login('ann', 'laptop'),
    login('ann', 'phone', { fails: 'create' }),
    login('ann', 'phone', { fails: 'life' }),
    request('laptop'),
  ]),
  history('a session that the store has lost does not count', BLOCK, [
    login('ann', 'laptop'),
    of('lose', { browser: 'laptop' }),
    login('ann', 'phone'),
    ...requests('laptop', 'phone'),
  ]),
]

/** Each end that the campaigns race, without the race. */
const ENDS: Readonly<Record<string, Command>> = {
  'end all': endAll('ann'),
  'end of one': of('end', { user: 'ann', browser: 'laptop', whom: 'user' }),
  'end of the others': of('end others', { user: 'ann', browser: 'phone', whom: 'user' }),
  'site-wide logout': logAllOut(),
  'site-wide logout that keeps one': logAllOut('phone'),
  logout: of('logout', { browser: 'laptop' }),
  erasure: of('erase', { user: 'ann', whom: 'admin' }),
}

const ofCampaigns: readonly History[] = [
  ...MODES.flatMap((logic) =>
    [1, 3, 10].flatMap((maximum) => [
      history(`campaign of logins: one account, ${logic}, maximum ${maximum}`, { logic, maximum }, [
        ...Array.from({ length: 14 }, (_, n) => login('ann', ALL[n % ALL.length] as BrowserName)),
        ...requests(...ALL),
      ]),
      history(`campaign of logins: at once, ${logic}, maximum ${maximum}`, { logic, maximum, processes: 2 }, [
        login('ann', 'laptop'),
        of('race', { user: 'ann', logins: 20, life: DAY }),
      ]),
    ]),
  ),
  ...Object.entries(ENDS).flatMap(([name, end]) => [
    history(`campaign of ended sessions: ${name}`, { logic: 'logout_oldest', maximum: 3, connections: true }, [
      login('ann', 'laptop'),
      login('ann', 'phone'),
      login('bob', 'office'),
      end,
      ...requests('laptop', 'phone', 'office', 'laptop'),
      login('ann', 'tablet'),
    ]),
    history(`campaign of session events: ${name}`, { ...OLDEST, maximum: 2, activity: 'after', channels: true }, [
      ...[login('ann', 'laptop'), login('ann', 'phone'), login('ann', 'tablet'), login('ann', 'laptop')],
      end,
      ...requests('laptop', 'phone', 'tablet'),
    ]),
    history(`campaign of tokens: ${name}`, { logic: 'logout_oldest', maximum: 2, tokens: 'reuse ends the session' }, [
      login('ann', 'laptop'),
      login('ann', 'phone'),
      of('refresh', { browser: 'laptop', back: 0 }),
      end,
      of('refresh', { browser: 'laptop', back: 0 }),
      of('refresh', { browser: 'phone', back: 0 }),
      ...requests('laptop', 'phone'),
    ]),
    history(`campaign of the watch: ${name}, told to another process`, { ...OLDEST, maximum: 2, processes: 2 }, [
      login('ann', 'laptop'),
      login('ann', 'phone'),
      of('request', { browser: 'laptop', how: 'load', touch: DAY }, 1),
      end,
      of('request', { browser: 'laptop', how: 'load', touch: DAY }, 1),
      of('request', { browser: 'phone', how: 'check', touch: DAY }, 1),
    ]),
  ]),
  ...(['reuse ends the session', 'reuse ends all'] as const).map((tokens) =>
    history(`campaign of tokens: ${tokens}`, { ...OLDEST, maximum: 2, tokens }, [
      login('ann', 'laptop'),
      login('ann', 'phone'),
      ...[0, 1, 0, 2].map((back) => of('refresh', { browser: 'laptop', back })),
      wait(31_000),
      ...[1, 0].map((back) => of('refresh', { browser: 'laptop', back })),
      ...requests('laptop', 'phone'),
    ]),
  ),
  ...MODES.map((logic) =>
    history(`campaign of interleavings: unused sessions, ${logic}`, { logic, idleRelease: 300, touchEvery: 0 }, [
      login('ann', 'laptop'),
      wait(301_000),
      login('ann', 'phone'),
      wait(200_000),
      request('phone'),
      wait(200_000),
      login('ann', 'tablet'),
      of('explain', { user: 'ann', browser: 'office' }),
      ...requests('laptop', 'phone', 'tablet'),
    ]),
  ),
  history('campaign of interleavings: a pending login makes one login', { logic: 'ask' }, [
    login('ann', 'laptop'),
    login('ann', 'phone'),
    of('open choice', { user: 'ann', browser: 'phone', seconds: 300 }),
    of('choose', { browser: 'phone', life: DAY, choice: 'too few' }),
    of('put back', { browser: 'phone' }),
    of('choose', { browser: 'phone', life: DAY, choice: 'oldest' }),
    of('choose', { browser: 'phone', life: DAY, choice: 'oldest' }),
    ...requests('laptop', 'phone'),
  ]),
  ...Object.entries(ENDS).map(([name, end]) =>
    history(`campaign of interleavings: a pending login after ${name}`, { logic: 'ask', maximum: 2 }, [
      login('ann', 'laptop'),
      login('ann', 'phone'),
      of('open choice', { user: 'ann', browser: 'tablet', seconds: 900 }),
      end,
      of('choose', { browser: 'tablet', life: DAY, choice: 'oldest' }),
    ]),
  ),
  ...[-120_000, -1000, 120_000, 31_536_001_000].flatMap((ms) =>
    MODES.map((logic) =>
      history(`campaign of clocks: set by ${ms} ms, ${logic}`, { logic, maximum: 2, idleRelease: 300 }, [
        login('ann', 'laptop'),
        login('ann', 'phone'),
        of('set clock', { ms }),
        login('ann', 'tablet'),
        ...requests('laptop', 'phone', 'tablet'),
        of('set clock', { ms: -ms }),
        login('ann', 'office'),
        ...requests('laptop', 'phone', 'tablet', 'office'),
        logAllOut('office'),
        ...requests('tablet', 'office'),
      ]),
    ),
  ),
  ...[9500, 61_500, DAY].map((life) =>
    history(`campaign of lives: a session of ${life} ms`, { ...BLOCK, touchEvery: 0 }, [
      login('ann', 'laptop', { life }),
      wait(Math.floor(life / 2) - 3000),
      request('laptop', life),
      wait(Math.floor(life / 2) + 1000),
      request('laptop', 0),
      login('ann', 'phone', { life }),
      wait(life + 4000),
      request('laptop', 0),
      login('ann', 'phone', { life }),
    ]),
  ),
  history('campaign of power cuts: the store has forgotten everything', { ...BLOCK, maximum: 2 }, [
    login('ann', 'laptop'),
    logAllOut(),
    login('ann', 'phone'),
    of('restart', { empty: true }),
    of('adopt again', { browser: 'laptop', life: DAY }),
    of('adopt again', { browser: 'phone', life: DAY }),
    login('ann', 'tablet'),
    ...requests('laptop', 'phone', 'tablet'),
  ]),
]

/** Histories with a name: what the host suite and the campaigns do, one after the other. */
export const namedHistories: readonly History[] = [...ofHosts, ...ofCampaigns]
