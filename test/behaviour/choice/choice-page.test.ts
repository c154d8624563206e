import { describe, expect, test } from 'vitest'
import { redisStore } from '../../../src/redis.ts'
import { textOf } from '../../support/browser.ts'
import { useRedis } from '../../support/use-redis.ts'
import { asked, BOB, CHOOSE, choosing, proofIn, signedIn, startAskingHost, tokenOn } from './choice-host.ts'

const redis = useRedis()

describe('the choice page', () => {
  test('a user at the limit chooses a session, which ends with the login', async () => {
    const host = await startAskingHost(2)
    const ends: string[] = []
    host.limiter.hooks.addAction('sessmgr_session_ended', 'test', (_session, { kind }) => void ends.push(kind))
    const [windows, linux] = await signedIn(host, 'windows', 'linux')
    const [phone, page] = await asked(host)
    expect(page.status).toBe(200)
    expect(textOf(page)).toMatch(/signed in on 2 devices, the limit\. To sign in here, sign out on 1 of these\./)
    expect([await phone.me(), await host.limiter.sessions.count(BOB)]).toEqual([401, 2])
    const answer = await phone.post(CHOOSE, choosing(page, 'Firefox on Linux'))
    expect([answer.status, answer.location]).toEqual([303, '/'])
    expect(await Promise.all([windows, linux, phone].map((browser) => browser?.me()))).toEqual([200, 401, 200])
    expect([...phone.cookies.keys()]).toEqual(['connect.sid'])
    expect(ends).toEqual(['chosen'])
  })

  test('twenty forms of one pending login make one login, on Redis', async () => {
    const host = await startAskingHost(1, {}, { store: redisStore({ client: redis.client }) })
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    const form = { proof: proofIn(page), end: tokenOn(page) }
    const answers = await Promise.all(Array.from({ length: 20 }, () => phone.copy().post(CHOOSE, form)))
    expect(answers.filter(({ location }) => location === '/')).toHaveLength(1)
    const others = answers.filter(({ location }) => location !== '/' && location !== '/login?choice=expired')
    // One that was read before the first was taken may find the session of its choice gone.
    expect(others.filter(({ status }) => status < 400)).toEqual([])
    expect(await host.limiter.sessions.count(BOB)).toBe(1)
  })

  test('ends everything else, or gives up', async () => {
    const host = await startAskingHost(2)
    await signedIn(host, 'windows', 'linux')
    const [quitter, page] = await asked(host)
    const cancelled = await quitter.post(CHOOSE, { proof: proofIn(page), cancel: '1' })
    expect([cancelled.status, cancelled.location, await quitter.me()]).toEqual([303, '/login', 401])
    expect((await quitter.post(CHOOSE, choosing(page, 'Firefox on Linux'))).location).toBe('/login?choice=expired')
    const [phone, again] = await asked(host)
    expect((await phone.post(CHOOSE, { proof: proofIn(again), all: '1' })).location).toBe('/')
    expect(await host.limiter.sessions.count(BOB)).toBe(1)
  })

  test('asks once more if too few are chosen, and keeps what was chosen', async () => {
    const host = await startAskingHost(2)
    await signedIn(host, 'windows', 'linux')
    await host.limiter.settings.update({ maximum: 1 })
    const [phone, page] = await asked(host)
    expect(textOf(page)).toContain(
      'You are signed in on 2 devices; only 1 is allowed. To sign in here, sign out on 2 of these.',
    )
    expect(page.text).toContain('type="checkbox"')
    const few = await phone.post(CHOOSE, choosing(page, 'Firefox on Linux'))
    expect([few.status, textOf(few)]).toEqual([400, expect.stringContaining('Choose 2. You chose 1; choose 2.')])
    expect(few.text).toMatch(new RegExp(`<title>Error: .*value="${tokenOn(few, 'Firefox on Linux')}" checked`, 's'))
    expect((await phone.post(CHOOSE, choosing(few, 'Firefox on Linux', 'Chrome on Windows'))).location).toBe('/')
    expect(await host.limiter.sessions.count(BOB)).toBe(1)
  })

  test('says that nothing was chosen, or that the sessions have changed, and spends nothing', async () => {
    const host = await startAskingHost(2)
    const [windows, linux] = await signedIn(host, 'windows', 'linux')
    const [phone, page] = await asked(host)
    const none = await phone.post(CHOOSE, choosing(page))
    expect([none.status, textOf(none)]).toEqual([400, expect.stringContaining('Choose one.')])
    const [other] = await host.limiter.sessions.list(BOB)
    await host.limiter.sessions.end(BOB, other?.token ?? '')
    await signedIn(host, 'iphone')
    const changed = await phone.post(CHOOSE, choosing(page, 'Chrome on Windows'))
    expect([changed.status, textOf(changed)]).toEqual([
      409,
      expect.stringMatching(/Something has changed .* choose again/),
    ])
    expect(await Promise.all([windows, linux].map((browser) => browser?.me()))).toEqual([401, 200])
    expect((await phone.post(CHOOSE, choosing(changed, 'Firefox on Linux'))).location).toBe('/')
  })

  test('with room, asks only to continue; what was chosen and is gone already is no obstacle', async () => {
    const host = await startAskingHost(1)
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    const [second, late] = await asked(host, 'linux')
    await host.limiter.sessions.end(BOB, tokenOn(page))
    const room = await phone.get(CHOOSE)
    expect(textOf(room)).toContain('You can sign in now You no longer have to choose.')
    expect((await second.post(CHOOSE, { proof: proofIn(late), end: tokenOn(page) })).location).toBe('/')
    expect((await phone.post(CHOOSE, { proof: proofIn(room) })).status).toBe(400)
    const [session] = await host.limiter.sessions.list(BOB)
    expect((await phone.post(CHOOSE, { proof: proofIn(room), end: session?.token ?? '' })).location).toBe('/')
    expect([await second.me(), await phone.me()]).toEqual([401, 200])
  })

  test('with a maximum of 1, asks whether to continue here', async () => {
    const host = await startAskingHost(1)
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    expect(textOf(page)).toMatch(
      /Continue on this device\? You are signed in on Chrome on Windows , last used .* \. .*sign out there\?/,
    )
    expect(page.text).not.toContain('<fieldset')
    expect((await phone.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })).location).toBe('/')
  })

  test('is over after a password change, a site-wide logout, and its time', async () => {
    const host = await startAskingHost(1)
    const [here] = await signedIn(host, 'windows')
    for (const change of [() => host.limiter.sessions.endAll(BOB), () => host.limiter.sessions.logoutAllUsers()]) {
      if ((await here?.me()) !== 200) await signedIn(host, 'windows')
      const [phone, page] = await asked(host)
      await change()
      const answer = await phone.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })
      expect([answer.status, answer.location]).toEqual([303, '/login?choice=expired'])
      expect(answer.text).toBe('That took too long. Please sign in again.')
      expect(await phone.me()).toBe(401)
    }
  })

  test('leads a browser without cookies to the login', async () => {
    const host = await startAskingHost(1, { loginUrl: '/login?from=choice#form' })
    const { status, location, text } = await host.browser().get(CHOOSE)
    expect([status, location]).toEqual([303, '/login?from=choice&choice=cookies#form'])
    expect(text).toBe('Signing in needs cookies, which your browser blocks.')
  })

  test('is refused for good once the mode blocks', async () => {
    const host = await startAskingHost(1)
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    await host.limiter.settings.update({ logic: 'block' })
    const answer = await phone.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })
    expect([answer.location, await phone.me()]).toEqual(['/login?choice=blocked', 401])
  })

  test('a form from elsewhere is refused, and spends nothing', async () => {
    const host = await startAskingHost(1)
    const [here] = await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    const [, other] = await asked(host, 'linux')
    const end = tokenOn(page)
    const refused = [
      await phone.post(CHOOSE, { end }),
      await phone.post(CHOOSE, { end, proof: proofIn(other) }),
      await phone.post(CHOOSE, { end, proof: proofIn(page) }, { 'sec-fetch-site': 'cross-site' }),
      await phone.post(CHOOSE, { end, proof: proofIn(page) }, { origin: 'https://evil.example' }),
      await phone.post(CHOOSE, { cancel: '1' }),
    ]
    for (const answer of refused)
      expect([answer.status, textOf(answer)]).toEqual([403, expect.stringContaining('expired')])
    expect([await here?.me(), await phone.me()]).toEqual([200, 401])
    expect((await phone.post(CHOOSE, { end, proof: proofIn(page) })).location).toBe('/')
  })

  test('has the headers of a page that nobody may frame or keep', async () => {
    const host = await startAskingHost(1)
    await signedIn(host, 'windows')
    const [, { headers, text }] = await asked(host)
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; .*form-action 'self'; frame-ancestors 'none'$/,
    )
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(text.match(/<script/g)).toHaveLength(1)
    expect(headers.get('content-security-policy')).toMatch(/; script-src 'sha256-[^']+'; /)
    expect(text).not.toContain('127.0.0.1')
  })

  test('leads to the page of the option, with a session of a new id', async () => {
    const host = await startAskingHost(1, { successRedirect: '/me' })
    await signedIn(host, 'windows')
    const [phone, page] = await asked(host)
    const visitor = phone.copy()
    await visitor.post('/cart', { item: 'hat' })
    const before = host.sessionIdOf(visitor)
    const answer = await visitor.post(CHOOSE, { proof: proofIn(page), end: tokenOn(page) })
    expect([answer.location, await visitor.me()]).toEqual(['/me', 200])
    expect([before, host.sessionIdOf(visitor)]).not.toContain(undefined)
    expect(host.sessionIdOf(visitor)).not.toBe(before)
  })
})
