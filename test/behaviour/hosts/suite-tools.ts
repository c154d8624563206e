import { expect } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import type { HostSetup, HostUnderTest, StartHost } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import type { LimitSettings } from '../../support/whole-settings.ts'

export const BLOCK: LimitSettings = { maximum: 1, logic: 'block' }
export const OLDEST: LimitSettings = { maximum: 1, logic: 'logout_oldest' }

/** The ways in which somebody logs in, by the path that the login form is sent to. */
export const LOGIN_PATHS = ['/login', '/callback-login', '/own-login', '/direct-login'] as const

/** What the suites need of one kind of host. */
export function suiteTools(startHost: StartHost) {
  const start = (settings: LimitSettings, setup: Partial<HostSetup> = {}) =>
    startHost({ sessions: new JsonSessions(), ...setup, sessmgr: { settings, ...setup.sessmgr } })

  /** Two processes of one application. */
  async function startTwo(settings: LimitSettings, setup: Partial<HostSetup>) {
    const shared = { ...setup, sessions: new JsonSessions(), sessmgr: { store: memoryStore() } }
    return [await start(settings, shared), await start(settings, shared)] as const
  }

  async function signedIn(host: HostUnderTest, login: string, path?: string): Promise<Browser> {
    const browser = host.browser()
    const { status, text } = await browser.login(login, {}, path)
    expect([status, text]).toEqual([200, '{"signedIn":true}'])
    expect(await browser.me()).toBe(200)
    return browser
  }

  /** The ids of the stored sessions that belong to a user. */
  function userSessions({ sessions }: HostUnderTest): string[] {
    return sessions.ids().filter((id) => {
      const { passport, userId } = sessions.read(id) as { passport?: { user?: unknown } | number; userId?: unknown }
      return userId !== undefined || (typeof passport === 'object' ? passport.user : passport) !== undefined
    })
  }

  return { start, startTwo, signedIn, userSessions }
}
