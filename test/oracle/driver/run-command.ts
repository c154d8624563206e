import type { RequestState } from '../../../src/index.ts'
import { tokenOf } from '../../../src/index.ts'
import { BROWSERS, type BrowserName, type Command, USERS, WHOM } from '../histories/commands.ts'
import { logIn } from './log-in.ts'
import { fieldsInWords, inWords } from './told.ts'
import type { Browser, World } from './world.ts'

type Of<Name extends Command['do']> = Extract<Command, { readonly do: Name }>
type Handlers = {
  readonly [Name in Command['do']]: (world: World, command: Of<Name>, name: string) => Promise<unknown>
}

/** Runs a command, and returns its outcome in words. `name` is that of a session which it may create. */
export async function runCommand(world: World, command: Command, name: string): Promise<string> {
  const run = HANDLERS[command.do] as (world: World, command: Command, name: string) => Promise<unknown>
  try {
    return inWords(await run(world, command, name))
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    // The application's own errors are known by their message, ours by their code.
    return `error ${code ?? message}`
  }
}

const heldBy = (world: World, name: BrowserName) => world.browser(name).held
const tokenBy = (world: World, name: BrowserName) => {
  const { held } = world.browser(name)
  return held ? tokenOf(held.sessionId) : 'no session'
}

const HANDLERS: Handlers = {
  login: logIn,
  async request(world, { browser: name, how, touch, process }) {
    const browser = world.browser(name)
    const { held } = browser
    if (!held) return 'no session'
    const { calls, tokens } = world.process(process)
    const { sessionId } = held
    const userId = USERS[held.user]
    if (tokens) browser.state = await tokens.check({ ...held.claims.at(-1), sub: userId })
    else if (how === 'load') browser.state = await calls.load({ sessionId }, async () => world.stored.get(sessionId))
    else if (world.stored.has(sessionId)) browser.state = await calls.check({ userId, sessionId })
    else browser.state = await calls.missing({ sessionId })
    const found = stateInWords(browser.state)
    if (!browser.state.session || tokens || touch === 0) return found
    return `${found}, ${(await calls.touch({ userId, sessionId, ttlMs: touch })) ? 'touched' : 'not registered'}`
  },
  async 'old request'(world, { browser, process }) {
    const { before } = world.browser(browser)
    if (!before) return 'no session'
    const { calls, tokens } = world.process(process)
    const { sessionId, user } = before
    if (tokens) return stateInWords(await tokens.check({ ...before.claims.at(-1), sub: USERS[user] }))
    if (!world.stored.has(sessionId)) return stateInWords(await calls.missing({ sessionId }))
    return stateInWords(await calls.check({ userId: USERS[user], sessionId }))
  },
  async logout(world, { browser: name, process }) {
    const browser = world.browser(name)
    const { held } = browser
    if (!held) return 'no session'
    const { calls, tokens } = world.process(process)
    if (tokens) await tokens.logout({ ...held.claims.at(-1), sub: USERS[held.user] })
    else await calls.logout({ userId: USERS[held.user], sessionId: held.sessionId })
    leave(browser)
    return 'done'
  },
  async adopt(world, { user, browser: name, life, process }, session) {
    const browser = world.browser(name)
    if (world.setup.tokens !== 'none') return 'not with tokens'
    leave(browser)
    const sessionId = world.create(session, user)
    browser.held = { user, sessionId, name: session, claims: [] }
    browser.state = await world.process(process).calls.adopt({ userId: USERS[user], sessionId, ttlMs: life })
    return stateInWords(browser.state)
  },
  async 'adopt again'(world, { browser: name, life, process }) {
    const browser = world.browser(name)
    const { held } = browser
    if (!held || world.setup.tokens !== 'none') return 'no session'
    const { calls } = world.process(process)
    browser.state = await calls.adopt({ userId: USERS[held.user], sessionId: held.sessionId, ttlMs: life })
    return stateInWords(browser.state)
  },
  async lose(world, { browser }) {
    const held = heldBy(world, browser)
    return held && world.stored.delete(held.sessionId) ? `lost ${held.name}` : 'nothing to lose'
  },
  async stick(world, { browser, on }) {
    const held = heldBy(world, browser)
    if (!held) return 'no session'
    if (on) world.stuck.add(held.sessionId)
    else world.stuck.delete(held.sessionId)
    return 'done'
  },
  async refresh(world, { browser, back, process }) {
    const { tokens } = world.process(process)
    const held = heldBy(world, browser)
    const claims = held?.claims.at(-1 - back)
    if (!tokens || !held || !claims) return 'no token'
    const result = await tokens.refresh({ ...claims, sub: USERS[held.user] }, (given) => given)
    if (!result.live) return stateInWords({ ended: result.ended })
    const { rot } = result.tokens
    if (held.claims.every((known) => known.rot !== rot)) held.claims.push(result.tokens)
    return `refresh token ${rot}${result.repeated ? ' repeated' : ''}`
  },
  end: (world, { user, browser, whom, process }) =>
    world.process(process).service.sessions.end(USERS[user], tokenBy(world, browser), WHOM[whom]),
  'end others': (world, { user, browser, whom, process }) =>
    world.process(process).service.sessions.endOthers(USERS[user], tokenBy(world, browser), WHOM[whom]),
  'end all': (world, { user, whom, process }) =>
    world.process(process).service.sessions.endAll(USERS[user], WHOM[whom]),
  async 'log all out'(world, { keep, whom, process }) {
    const held = keep && heldBy(world, keep)
    const kept = held && { userId: USERS[held.user], token: tokenOf(held.sessionId) }
    await world.process(process).service.sessions.logoutAllUsers(kept, WHOM[whom])
    return kept ? 'done, kept one' : 'done'
  },
  async erase(world, { user, whom, process }) {
    const erased = await world.process(process).service.eraseUser(USERS[user], WHOM[whom])
    // By the recorded rules, an erasure takes a second. So the clocks stay together.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return fieldsInWords(erased)
  },
  set: async (world, { changes, process }) =>
    fieldsInWords(await world.process(process).service.settings.update(changes)),
  reset: async (world, { key, process }) => fieldsInWords(await world.process(process).service.settings.reset(key)),
  async 'open choice'(world, { user, browser, seconds, process }) {
    world.browser(browser).secret = await world.process(process).calls.pending.open(USERS[user], seconds)
    return 'opened'
  },
  async choose(world, { browser: name, life, choice, process }, session) {
    const browser = world.browser(name)
    const { calls } = world.process(process)
    const read = await calls.pending.read(browser.secret)
    const taken = await calls.pending.take(browser.secret)
    browser.taken = taken
    if (!taken) return read === undefined ? 'not pending' : 'not pending any more'
    const user = (Object.keys(USERS) as (keyof typeof USERS)[]).find((one) => USERS[one] === taken.userId) ?? 'ann'
    const ends = await world.chosen(taken.userId, choice)
    const login = {
      do: 'login',
      user,
      browser: name,
      life,
      replaces: false,
      continues: false,
      ends: [],
      process,
    } as const
    return `taken, ${await logIn(world, login, session, ends)}`
  },
  async 'put back'(world, { browser }) {
    const { taken } = world.browser(browser)
    return taken ? `back: ${await taken.putBack()}` : 'nothing taken'
  },
  async explain(world, { user, browser, mode, maximum, process }) {
    const { service } = world.process(process)
    const [userAgent] = BROWSERS[browser]
    const assumed = { ...(mode !== undefined && { mode }), ...(maximum !== undefined && { maximum }) }
    const { live, freeAt, limits: _, ...told } = await service.explain(USERS[user], { ...assumed, userAgent })
    const sessions = live.map(({ token, label, idle, wouldEnd }) =>
      [token, label, idle && 'idle', wouldEnd && 'would end'].filter(Boolean).join(' '),
    )
    const free =
      freeAt === undefined ? '' : ` free in ${Math.round((freeAt - Date.now() - world.setup.storeAhead) / 60_000)} min`
    return `${fieldsInWords(told)}${free}: ${sessions.join(', ')}`
  },
  async page(world, { user, limit, process }) {
    const { sessions } = world.process(process).service
    const first = await sessions.list(USERS[user], { limit })
    const after = first.at(-1)?.sequence ?? 0
    const [next, count] = [await sessions.list(USERS[user], { limit, after }), await sessions.count(USERS[user])]
    const tokens = (list: typeof first) => list.map(({ token }) => token).join(' ')
    return `${count} in all: ${tokens(first)} | ${tokens(next)}`
  },
  wait: async () => 'done',
  'set clock': async () => 'done',
  async restart(world, { empty }) {
    await world.restart(empty)
    return 'done'
  },
  async uninstall(world, { process }) {
    await world.process(process).service.uninstall()
    return 'done'
  },
  async race(world, { user, logins, life }, session) {
    const race = Array.from({ length: logins }, (_, n) => {
      const login = { do: 'login', user, browser: 'script', life, replaces: false, continues: false, ends: [] } as const
      return logIn(world, { ...login, process: (n % 2) as 0 | 1 }, `${session}.${n}`).catch(
        ({ code }) => `error ${code}`,
      )
    })
    const outcomes = (await Promise.all(race)).map((outcome) => outcome.split(' ')[0])
    const numbers = [...new Set(outcomes)].sort().map((one) => `${outcomes.filter((it) => it === one).length} ${one}`)
    return numbers.join(', ')
  },
}

function leave(browser: Browser): void {
  if (browser.held) browser.before = browser.held
  browser.held = undefined
  browser.state = undefined
}

/** Returns what a request has found, in words. */
function stateInWords({ session, ended }: RequestState): string {
  if (session) return `live ${session.token} of ${session.userId}`
  const { reason, cause } = (ended ?? {}) as {
    reason?: string
    cause?: { kind: string; device: string | null; note?: string }
  }
  if (!cause) return `ended: ${reason}`
  return `ended: ${reason}, ${cause.kind}${cause.device ? ` by ${cause.device}` : ''}${cause.note ? ` "${cause.note}"` : ''}`
}
