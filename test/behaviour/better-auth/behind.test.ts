import { anonymous, multiSession } from 'better-auth/plugins'
import { describe, expect, it, vi } from 'vitest'
import { SessmgrError } from '../../../src/ground/errors.ts'
import { memoryStore } from '../../../src/index.ts'
import { type Storage, startAuth } from '../../support/better-auth-lab.ts'

const ONE = { settings: { maximum: 1, logic: 'block' } } as const

/** Starts with Ada signed in somewhere, and with a browser that belongs to a guest. */
async function startGuest(storage: Storage = 'database') {
  const onLinkAccount = vi.fn()
  const store = memoryStore()
  const lab = startAuth({ sessmgr: { ...ONE, store }, storage, behind: [anonymous({ onLinkAccount })] })
  const [one, browser] = [lab.client(), lab.client()]
  await one.signUp('ada')
  await browser.send('/sign-in/anonymous', {})
  const guest = await browser.session()
  const isThere = () => lab.db.user?.some(({ id }) => id === guest.userId)
  return { ...lab, store, one, browser, guest, onLinkAccount, isThere }
}

describe('a guest of anonymous() who signs in', () => {
  it('stays a guest if the login is refused', async () => {
    const { browser, guest, onLinkAccount, isThere } = await startGuest()
    expect((await browser.signIn('ada')).status).toBe(403)
    expect([isThere(), (await browser.session()).userId]).toEqual([true, guest.userId])
    expect(onLinkAccount).not.toHaveBeenCalled()
  })

  it('stays a guest while the store is down', async () => {
    const { browser, guest, onLinkAccount, isThere, store } = await startGuest()
    const { read } = store.sessions
    store.sessions.read = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is away.'))
    expect((await browser.signIn('ada')).status).toBe(503)
    store.sessions.read = read
    expect([isThere(), (await browser.session()).userId]).toEqual([true, guest.userId])
    expect(onLinkAccount).not.toHaveBeenCalled()
  })

  it.each(['database', 'secondary', 'both'] as const)('hands over to the new user: sessions in %s', async (storage) => {
    const { browser, guest, limiter, onLinkAccount, isThere, one } = await startGuest(storage)
    const before = browser.copy()
    await one.send('/sign-out', {})
    expect((await browser.signIn('ada')).status).toBe(200)
    expect(onLinkAccount.mock.calls).toMatchObject([[{ anonymousUser: { user: { id: guest.userId } } }]])
    expect([isThere(), await limiter.sessions.count(guest.userId)]).toEqual([false, 0])
    expect([await before.isLive(), await browser.isLive()]).toEqual([false, true])
  })
})

describe.each(['database', 'secondary'] as const)('a login beside multiSession() with sessions in %s', (storage) => {
  it('that fails keeps the one that it would have replaced', async () => {
    const store = memoryStore()
    const lab = startAuth({ sessmgr: { ...ONE, store }, storage, behind: [multiSession()] })
    const browser = lab.client()
    await browser.signUp('ada')
    const { read } = store.sessions
    store.sessions.read = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is away.'))
    expect((await browser.signIn('ada')).status).toBe(503)
    store.sessions.read = read
    expect(await browser.isLive()).toBe(true)
  })

  it('that succeeds replaces it', async () => {
    const lab = startAuth({ sessmgr: ONE, storage, behind: [multiSession()] })
    const browser = lab.client()
    await browser.signUp('ada')
    const before = browser.copy()
    expect((await browser.signIn('ada')).status).toBe(200)
    const { userId } = await browser.session()
    expect([await before.isLive(), await browser.isLive()]).toEqual([false, true])
    expect(await lab.limiter.sessions.count(userId)).toBe(1)
    expect((await browser.send('/multi-session/list-device-sessions')).json).toHaveLength(1)
  })
})
