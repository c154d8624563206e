import { tokenOf } from '../../../src/index.ts'
import { BROWSERS, type Command, USERS } from '../histories/commands.ts'
import { runCommand } from './run-command.ts'
import type { World } from './world.ts'

type Login = Extract<Command, { readonly do: 'login' }>

/**
 * Logs a user in, in one of the browsers.
 *
 * @param name The name of the new session.
 * @param chosen Tokens of the sessions to end, besides those of `ends`.
 */
export async function logIn(world: World, login: Login, name: string, chosen: readonly string[] = []): Promise<string> {
  const { user, browser: place, life, replaces, continues, ends, meanwhile, fails, process } = login
  const browser = world.browser(place)
  const { calls, tokens } = world.process(process)
  const { held } = browser
  const userId = USERS[user]
  const [userAgent, ip] = BROWSERS[place]
  const inBrowsers = ends.flatMap((other) => world.browser(other).held ?? [])
  const call = {
    userId,
    userAgent,
    ip,
    ...(replaces && held && { replaces: held.sessionId }),
    ...(continues && browser.state && { state: browser.state }),
    ends: [...chosen, ...inBrowsers.map(({ sessionId }) => tokenOf(sessionId))],
    ...(world.setup.device && { device: { cookies: browser.cookies, secure: false } }),
  }
  const told: string[] = []
  const work = async () => {
    if (meanwhile) told.push(`meanwhile ${await runCommand(world, meanwhile, `${name}m`)}; `)
    if (fails === 'create') throw new Error('the application cannot create the session')
  }
  if (tokens) {
    const admission = await tokens.login(call, async (claims) => {
      const token = tokenOf(claims.sid)
      world.listener.name(token, name)
      await work()
      world.enter(browser, { user, sessionId: claims.sid, name, claims: [claims] })
      world.connect(process, userId, token)
      return claims
    })
    return told.join('') + outcomeOf(admission)
  }
  const admission = await calls.login(call, async () => {
    await work()
    const sessionId = world.create(name, user)
    return { sessionId, ttlMs: fails === 'life' ? 0 : life }
  })
  if (admission.admitted) {
    const { token } = admission.session
    world.enter(browser, { user, sessionId: world.idOf(name), name, claims: [] })
    if (admission.deviceCookie) browser.cookies = admission.deviceCookie.split(';')[0] ?? ''
    world.connect(process, userId, token)
  }
  return told.join('') + outcomeOf(admission)
}

type Admission = Awaited<ReturnType<ReturnType<World['process']>['calls']['login']>>

function outcomeOf(admission: Admission): string {
  if (admission.admitted) return `admitted ${admission.session.token}`
  const { choice } = admission
  if (!choice) return 'refused'
  return `asked for ${choice.need} of ${choice.sessions.map(({ token }) => token).join(' ')}, maximum ${choice.maximum}`
}
