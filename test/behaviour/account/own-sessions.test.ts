import { expect, test } from 'vitest'
import { memoryStore, SessmgrError, tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { textOf } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { EVERY_SESSION, recordActions } from '../../support/record-actions.ts'
import { useRedis } from '../../support/use-redis.ts'
import { formIn, PAGE, signIn, submit } from './account-hosts.ts'

const redis = useRedis()
/** Longer than a busy machine takes. */
const deadlineMs = 30_000

test.each([
  ['one session', 'We do not know whether Safari on iPhone was signed out. Check the list below.'],
  ['all others', 'We do not know whether your other devices were signed out. Check the list below.'],
])('when the store fails while %s ends, the page says so, and a second press ends it', async (which, sentence) => {
  const store = memoryStore()
  const { end, endOthers } = store.sessions
  const host = await startExpressHost({ sessmgr: { store, settings: { maximum: 5, logic: 'block' } } })
  const [here, phone] = [await signIn(host, 'windows'), await signIn(host, 'iphone')]
  const away = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is away.'))
  Object.assign(store.sessions, { end: away, endOthers: away })
  const { proof, end: token } = formIn(await here.get(PAGE), 'Safari on iPhone')
  const form = which === 'one session' ? { proof, end: token } : { proof, others: '1' }
  const page = await submit(here, form)
  expect([page.status, textOf(page)]).toEqual([200, expect.stringContaining(sentence)])
  expect(await phone.me()).toBe(200)
  Object.assign(store.sessions, { end, endOthers })
  expect(textOf(await submit(here, form))).toContain('Signed out on')
  expect(await phone.me()).toBe(401)
})

test('the page names no limit while it is not enforced', async () => {
  const host = await startExpressHost({ sessmgr: { settings: { maximum: 1, enforce: false } } })
  const here = await signIn(host, 'windows')
  await signIn(host, 'iphone')
  expect(textOf(await here.get(PAGE))).toContain('You are signed in on 2 devices.')
  await host.limiter.settings.update({ enforce: true })
  expect(textOf(await here.get(PAGE))).toContain('You are signed in on 2 devices. After your next sign-in')
})

test('the REST routes end no other session before the proof that `stepUp` asks for', async () => {
  const stepUp = { verify: (_request: unknown, password: string) => password === 'secret' }
  const settings = { maximum: 5, logic: 'block' }
  const host = await startExpressHost({ sessmgr: { settings }, account: { stepUp } })
  const [here, phone] = [await signIn(host, 'windows'), await signIn(host, 'iphone')]
  const headers = { 'x-host-nonce': (await here.get('/nonce')).text }
  const post = (path: string, json: object) => here.request('POST', `/api/sessmgr/v1/me/${path}`, { headers, json })
  const { sessions } = (await here.get('/api/sessmgr/v1/me/sessions', { headers })).json<{
    sessions: { token: string; current: boolean }[]
  }>()
  const token = sessions.find(({ current }) => !current)?.token
  for (const [path, body] of [
    ['sessions/end', { token }],
    ['sessions/end-others', {}],
  ] as const) {
    expect((await post(path, body)).status, path).toBe(403)
  }
  expect(await phone.me()).toBe(200)
  expect((await post('reauthenticate', { password: 'secret' })).status).toBe(200)
  expect((await post('sessions/end', { token })).json()).toEqual({ ended: true })
  expect(await phone.me()).toBe(401)
})

test('the REST routes list addresses with `show`, and without it not', async () => {
  for (const [show, ip] of [
    [{ ip: true }, '127.0.0.1'],
    [{}, undefined],
  ] as const) {
    const host = await startExpressHost({ sessmgr: {}, account: { show } })
    const here = await signIn(host, 'windows')
    const headers = { 'x-host-nonce': (await here.get('/nonce')).text }
    const { sessions } = (await here.get('/api/sessmgr/v1/me/sessions', { headers })).json<{ sessions: object[] }>()
    expect(sessions).toEqual([expect.objectContaining({ current: true, same_browser: false })])
    expect(sessions[0]).toHaveProperty('created_at')
    expect((sessions[0] as { ip?: string }).ip).toBe(ip)
  }
})

test('on Redis, all others end beside parallel logins: this session and later ones stay, each end is told once', async () => {
  const sessmgr = {
    store: redisStore({ client: redis.client, deadlineMs }),
    deadlineMs,
    settings: { maximum: 50, logic: 'block' },
  }
  const host = await startExpressHost({ sessmgr })
  const events = recordActions(host.limiter.hooks, EVERY_SESSION)
  const here = await signIn(host, 'windows')
  for (let count = 0; count < 3; count++) await signIn(host, 'linux')
  const { proof } = formIn(await here.get(PAGE))
  const press = () => here.copy().post(PAGE, { proof, others: '1' })
  const logins = Array.from({ length: 10 }, () => signIn(host, 'iphone'))
  const answers = await Promise.all([press(), ...logins.slice(0, 5), press(), ...logins.slice(5)])
  expect(answers).toHaveLength(12)
  const later = await signIn(host, 'iphone')

  const tokens = (name: string) =>
    events.filter(([fired]) => fired === name).map(([, session]) => (session as { token: string }).token)
  const [started, ended] = [tokens('sessmgr_session_started'), tokens('sessmgr_session_ended')]
  const live = (await host.limiter.sessions.list(3)).map(({ token }) => token)
  expect(live).toEqual(expect.arrayContaining([here, later].map((one) => tokenOf(one.sessionId() ?? ''))))
  expect(ended).toEqual(expect.arrayContaining(started.slice(1, 4)))
  expect([...live, ...ended].toSorted()).toEqual(started.toSorted())
  expect([await here.me(), await later.me()]).toEqual([200, 200])
})
