import { describe, expect, it, test } from 'vitest'
import { SiteSecrets } from '../../../src/auth/site-secrets.ts'
import type { UserId } from '../../../src/ground/user-id.ts'
import type { HostSessionData } from '../../../src/guard/host-types.ts'
import { markerIn, readMarker, SessionMarks } from '../../../src/guard/marks.ts'
import { memoryStore, type SessmgrStore } from '../../../src/index.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'

const token = tokenOf('raw id')
const NEWER = 'the newer secret of an application'
const OLDER = 'the older secret of an application'

async function marksOf(store: SessmgrStore, secrets: readonly string[] = []): Promise<SessionMarks> {
  const marks = new SessionMarks(new SiteSecrets(store.options, secrets), store.id, 20_000)
  await marks.ready()
  return marks
}

/** Marks a session, and gives its data as a session store would. */
function marked(marks: SessionMarks, userId: UserId = 7, rest: HostSessionData = {}): HostSessionData {
  return JSON.parse(JSON.stringify({ ...rest, sessmgr: marks.seal(userId, token) }))
}

/** The same marker with something else in it. */
const altered = (data: HostSessionData, change: object) => ({ sessmgr: { ...(data.sessmgr as object), ...change } })

describe('what looks like a marker', () => {
  const marker = { userId: 7, token, signature: 'signed' }

  it('carries no more than its three fields, the signature as a string', () => {
    expect(readMarker({ sessmgr: { ...marker, signature: 5, role: 'admin' } }, token)).toEqual({
      ...marker,
      signature: '5',
    })
  })

  it('is none of another session, though it lies in the data', () => {
    expect(readMarker({ sessmgr: marker }, tokenOf('another id'))).toBeUndefined()
    expect(markerIn({ sessmgr: marker })).toBe(marker)
  })

  test.each([[undefined], [null], [7], ['text'], [true]])('is none where there is %j in its place', (value) => {
    expect([readMarker({ sessmgr: value }, token), markerIn({ sessmgr: value })]).toEqual([undefined, undefined])
  })
})

describe('the marker in a session', () => {
  it('is read as it was written, by every process on the same store, in the type of the user id', async () => {
    const store = memoryStore()
    const [here, there] = [await marksOf(store), await marksOf(store)]
    expect(there.read(marked(here), token)).toMatchObject({ userId: 7, token })
    expect(there.read(marked(here, '7'), token)?.userId).toBe('7')
  })

  it('leaves the rest of the session alone, replaces an earlier marker, and holds no raw session id', async () => {
    const marks = await marksOf(memoryStore())
    const data = marked(marks, 8, marked(marks, 7, { cart: [1, 2] }))
    expect(data.cart).toEqual([1, 2])
    expect(marks.read(data, token)?.userId).toBe(8)
    expect(JSON.stringify(data)).not.toContain('raw id')
  })

  it('rule 48: is none with a wrong signature, or that of another session, user or store', async () => {
    const store = memoryStore()
    const marks = await marksOf(store)
    const good = marked(marks)
    const signature = String((good.sessmgr as { signature: unknown }).signature)
    const another = (await marksOf(store)).seal(7, tokenOf('another id'))
    const wrong = [undefined, null, '', 'x', signature.slice(1), `${signature}AAAA`, another?.signature, {}]
    for (const value of wrong) {
      expect(marks.read(altered(good, { signature: value }), token), String(value)).toBeUndefined()
    }
    expect((await marksOf(store)).read(altered(good, { userId: 8 }), token)).toBeUndefined()
    expect((await marksOf(store)).read(altered(good, { userId: '7' }), token)).toBeUndefined()
    expect(marks.read(good, tokenOf('another id'))).toBeUndefined()
    expect((await marksOf(store)).read(altered(good, { token: tokenOf('b') }), tokenOf('b'))).toBeUndefined()
    expect((await marksOf(memoryStore())).read(good, token)).toBeUndefined()
    expect((await marksOf({ ...store, id: 'another store' })).read(good, token)).toBeUndefined()
  })

  it('is not believed of another user because that of the right one was', async () => {
    const marks = await marksOf(memoryStore())
    const good = marked(marks)
    expect(marks.read(good, token)?.userId).toBe(7)
    expect(marks.read(altered(good, { userId: 8 }), token)).toBeUndefined()
  })

  it('keeps the time of its login through every later marking, and believes no other', async () => {
    const store = memoryStore()
    const [marks, later] = [await marksOf(store), await marksOf(store)]
    const data: HostSessionData = JSON.parse(JSON.stringify({ sessmgr: marks.seal(7, token, 1000) }))
    expect(later.read(data, token)?.loginAt).toBe(1000)
    expect(later.seal(7, token)?.loginAt).toBe(1000)
    expect(marked(marks).sessmgr).toEqual(data.sessmgr)
    expect(marks.seal(7, token, 2000)?.loginAt).toBe(2000)
    for (const loginAt of [2000, undefined, '1000']) {
      expect((await marksOf(store)).read(altered(data, { loginAt }), token), String(loginAt)).toBeUndefined()
    }
    const unsigned = altered(marked(await marksOf(store)), { loginAt: 1000 })
    expect((await marksOf(store)).read(unsigned, token)).toBeUndefined()
  })

  it('is not taken from damaged data', async () => {
    const marks = await marksOf(memoryStore())
    const good = marked(marks)
    for (const damaged of [null, 'text', 7, true, [], {}, [good.sessmgr], { ...(good.sessmgr as object), token: 1 }]) {
      expect(marks.read({ sessmgr: damaged }, token), JSON.stringify(damaged)).toBeUndefined()
    }
    for (const userId of [undefined, null, '', 1.5, Number.NaN, {}, [], true]) {
      expect(marks.read(altered(good, { userId }), token), String(userId)).toBeUndefined()
    }
  })

  it('is signed with the newest secret of the application, and read with the older ones too', async () => {
    const store = memoryStore()
    const old = marked(await marksOf(store, [OLDER]))
    expect((await marksOf(store, [NEWER, OLDER])).read(old, token)).toBeDefined()
    expect((await marksOf(store, [NEWER])).read(old, token)).toBeUndefined()
    const fresh = marked(await marksOf(store, [NEWER, OLDER]))
    expect((await marksOf(store, [NEWER])).read(fresh, token)).toBeDefined()
    expect((await marksOf(store)).read(fresh, token)).toBeUndefined()
  })

  it.each([[[]], [[NEWER]]])(
    'rule 38: is that of an earlier registry after the store was wiped, with the secrets %j',
    async (secrets) => {
      const store = memoryStore()
      const marks = await marksOf(store, secrets)
      const data = marked(marks)
      expect(await marks.hasChanged()).toBe(false)
      await store.wipe()
      expect(marks.read(data, token)).toBeDefined()
      expect(await marks.hasChanged()).toBe(true)
      expect(marks.read(data, token)).toBeUndefined()
      expect(marks.read(marked(marks), token)).toBeDefined()
      expect(await marks.hasChanged()).toBe(false)
    },
  )

  it('is none, and none is made, before the secret is known', () => {
    const store = memoryStore()
    const marks = new SessionMarks(new SiteSecrets(store.options, []), store.id, 20_000)
    expect(marks.seal(7, token)).toBeUndefined()
    expect(marks.read({ sessmgr: { userId: 7, token, signature: '' } }, token)).toBeUndefined()
  })

  it('is checked once, as long as it is one of the last 20,000', async () => {
    const store = memoryStore()
    const secrets = new SiteSecrets(store.options, [NEWER])
    const [marks, others] = [20_000, 20_000].map((capacity) => new SessionMarks(secrets, store.id, capacity)) as [
      SessionMarks,
      SessionMarks,
    ]
    await marks.ready()
    const [made, read] = [marked(marks), { sessmgr: others.seal(7, tokenOf('read')) }]
    expect(marks.read(read, tokenOf('read'))).toBeDefined()
    // By another secret none of them is signed: what is believed now is not checked again.
    Object.assign(secrets.known?.secrets ?? [], [OLDER])
    expect([marks.read(made, token), marks.read(read, tokenOf('read'))]).not.toContain(undefined)
    expect(others.read(made, token), 'by other marks, which have never seen it').toBeUndefined()
    for (let user = 0; user < 19_998; user++) marks.seal(user, `token ${user}`)
    expect(marks.read(made, token), 'with 19,999 newer ones').toBeDefined()
    marks.seal(7, 'one more')
    expect(marks.read(made, token), 'with 20,000 newer ones').toBeUndefined()
  })

  it('tells from which session of a user data was copied', async () => {
    const marks = await marksOf(memoryStore())
    const data = marked(marks)
    expect(marks.copiedFrom(data, '7')).toMatchObject({ userId: 7, token })
    expect(marks.copiedFrom(data, 8)).toBeUndefined()
    expect(marks.copiedFrom(altered(data, { signature: 'forged' }), 7)).toBeUndefined()
    expect(marks.copiedFrom({}, 7)).toBeUndefined()
    expect(marks.copiedFrom(altered(data, { token: 7 }), 7)).toBeUndefined()
  })

  it('takes no call to the store once the secret is known', async () => {
    const store = memoryStore()
    const marks = await marksOf(store)
    store.options.get = () => Promise.reject(new Error('asked again'))
    await marks.ready()
    expect(marks.read(marked(marks), token)).toBeDefined()
  })
})
