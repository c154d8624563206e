import { setImmediate as nextTurn } from 'node:timers/promises'
import { MemoryStore } from '@fastify/session'
import type { FastifyRequest } from 'fastify'
import type { Context } from 'koa'
import { describe, expect, test } from 'vitest'
import type { DecryptSession } from '../../../src/adapters/fastify/fastify-sessmgr.ts'
import { memoryStore, type SessmgrOptions, tokenOf } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import type { Browser } from '../../support/browser.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import type { HostSetup, HostUnderTest, StartHost } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { findUser } from '../../support/users.ts'

type Data = Record<string, unknown>
type Name = 'Fastify' | 'Koa'

/** All that an application can find in its session with the usual means, without the framework's own fields. */
function seenIn(session: object, own: readonly string[]) {
  const isOther = (key: string) => !own.includes(key)
  const looped: string[] = []
  for (const key in session) if (Object.hasOwn(session, key)) looped.push(key)
  const json = JSON.parse(JSON.stringify(session))
  return [Object.keys(session), looped, Object.keys(json)].map((keys) => keys.filter(isOther).toSorted())
}

const KOAS = ['isNew', '_requireSave', '_expire']
/** The field `session` is from @fastify/passport. */
const FASTIFYS = ['cookie', 'session']

const startKoa = (setup: HostSetup) =>
  startKoaHost({
    ...setup,
    further: ({ limiter, gates }) => {
      const dataOf = (ctx: Context) => ctx.session as unknown as Data
      const show = (ctx: Context) => {
        ctx.body = seenIn(dataOf(ctx), KOAS)
      }
      return {
        'GET /seen': show,
        'POST /passport': async (ctx) => {
          await ctx.login(findUser('alice'))
          show(ctx)
        },
        'POST /direct': async (ctx) => {
          await limiter.login(ctx, findUser('alice'))
          show(ctx)
        },
        'POST /again': async (ctx) => {
          await limiter.logout(ctx)
          await ctx.login(findUser('alice'))
          show(ctx)
        },
        'POST /change': (ctx) => {
          dataOf(ctx).item = 'tea'
          show(ctx)
        },
        'POST /save': async (ctx) => {
          dataOf(ctx).item = 'milk'
          await (ctx.session as unknown as { save(): Promise<void> }).save()
          show(ctx)
        },
        'POST /leave': (ctx) => {
          delete dataOf(ctx).passport
          show(ctx)
        },
        'POST /empty': async (ctx) => {
          if (ctx.query.gate) await gates.at('copy').pass()
          const { passport } = dataOf(ctx)
          ctx.session = { passport, emptied: true }
          ctx.body = 'emptied'
        },
        'POST /rotate-here': async (ctx) => {
          await (ctx.session as unknown as { regenerate(): Promise<void> }).regenerate()
          show(ctx)
        },
        'POST /copy': async (ctx) => {
          await gates.at('copy').pass()
          const before = { ...dataOf(ctx) }
          ctx.session = {}
          await (ctx.session as unknown as { regenerate(): Promise<void> }).regenerate()
          Object.assign(dataOf(ctx), before)
          ctx.body = 'copied'
        },
      }
    },
  })

const startFastify = (setup: HostSetup) =>
  startFastifyHost({
    ...setup,
    further({ app, limiter, gates }) {
      const dataOf = (request: FastifyRequest) => request.session as unknown as Data
      const show = async (request: FastifyRequest) => seenIn(dataOf(request), FASTIFYS)
      app.get('/seen', show)
      app.post('/passport', async (request) => {
        await request.logIn(findUser('alice'))
        return show(request)
      })
      app.post('/direct', async (request) => {
        await limiter.login(request, findUser('alice'))
        return show(request)
      })
      app.post('/again', async (request) => {
        await limiter.logout(request)
        await request.logIn(findUser('alice'))
        return show(request)
      })
      app.post('/change', (request) => {
        dataOf(request).item = 'tea'
        return show(request)
      })
      app.post('/save', async (request) => {
        dataOf(request).item = 'milk'
        await request.session.save()
        return show(request)
      })
      app.post('/reload', async (request) => {
        await request.session.reload()
        return show(request)
      })
      app.post('/leave', (request) => {
        delete dataOf(request).passport
        return show(request)
      })
      app.post<{ Querystring: { gate?: string } }>('/empty', async (request) => {
        if (request.query.gate) await gates.at('copy').pass()
        const data = dataOf(request)
        for (const key of Object.keys(data)) if (!['cookie', 'passport'].includes(key)) delete data[key]
        data.emptied = true
      })
      app.post('/rotate-here', async (request) => {
        const { cookie: _, ...kept } = dataOf(request)
        await request.session.regenerate(Object.keys(kept))
        return show(request)
      })
      app.post('/copy', async (request) => {
        await gates.at('copy').pass()
        const { cookie: _, ...before } = dataOf(request)
        await request.session.regenerate()
        Object.assign(request.session, before)
        return 'copied'
      })
    },
  })

/** A store that keeps the very objects that it receives, and how to read them. */
const MEMORY = {
  Fastify() {
    const kept = new Map<string, Data>()
    return { store: Reflect.construct(MemoryStore as never, [kept]), read: (id: string) => kept.get(id) }
  },
  Koa() {
    const kept = new Map<string, Data>()
    const store = {
      get: async (id: string) => kept.get(id),
      set: async (id: string, data: Data) => void kept.set(id, data),
      destroy: async (id: string) => void kept.delete(id),
    }
    return { store, read: (id: string) => kept.get(id) }
  },
}

/** What is different between the hosts. */
const HOSTS: Record<Name, { start: StartHost; sessionOptions: object[] }> = {
  Fastify: { start: startFastify, sessionOptions: [{}, { rolling: false }, { saveUninitialized: true }] },
  Koa: { start: startKoa, sessionOptions: [{}, { renew: true }, { maxAge: 'session' }] },
}

async function start(name: Name, setup: HostSetup = {}) {
  arePairsShown = name === 'Fastify'
  const clock = fakeClock()
  const settings = { maximum: 3, logic: 'block' }
  const options: SessmgrOptions = { store: memoryStore({ clock }), settings, ...setup.sessmgr }
  const host = await HOSTS[name].start({ sessions: new JsonSessions(), ...setup, sessmgr: options })
  const idOf = (browser: Browser) => String(host.sessionIdOf(browser))
  const stored = (browser: Browser) => host.sessions.read(idOf(browser))
  return { ...host, clock, options, idOf, stored, writes: () => total(host) }
}

function total({ sessions }: HostUnderTest) {
  return [...sessions.writes.values()].reduce((sum, count) => sum + count, 0)
}

/** Whether the sessions of the host that was started last show their pair. */
let arePairsShown = false

/** Sends a request, and expects it to show a session of these keys, in every way, besides a pair that is shown. */
async function expectKeys(browser: Browser, call: string, keys: string[]) {
  const [method = '', path = ''] = call.split(' ')
  const answer = await browser.request(method, path, {})
  expect(answer.status).toBe(200)
  const seen = (answer.json() as string[][]).map((ways) => ways.filter((key) => !arePairsShown || key !== 'sessmgr'))
  expect(seen).toEqual([keys.toSorted(), keys.toSorted(), keys.toSorted()])
}

const pair = (id: string) => ({ userId: 2, token: tokenOf(id), registry: expect.any(String) })

describe.each(Object.keys(HOSTS) as Name[])('on %s', (name) => {
  test.each([
    ['/passport', ['passport']],
    ['/direct', []],
  ])(
    'after %s, the store has the pair, whatever the application sees, and a request that changes nothing writes nothing',
    async (path, own) => {
      const { browser, stored, idOf, writes, clock, limiter, sessions, options } = await start(name)
      const laptop = browser()
      for (let turn = 0; turn < 2; turn++) {
        // The second login is one of the same user in the same session.
        await expectKeys(laptop, `POST ${path}`, own)
        clock.advance(180_000)
        expect(await limiter.sessions.count(2)).toBe(1)
      }
      const first = stored(laptop)?.sessmgr
      expect(first).toEqual(pair(idOf(laptop)))
      const other = await start(name, { sessions, sessmgr: options, session: { rolling: false } })
      const written = writes()
      for (const tab of [laptop, laptop.copy(other.origin), laptop.copy(other.origin), laptop]) {
        await expectKeys(tab, 'GET /seen', own)
      }
      expect(writes()).toBe(written)
      for (const change of ['/change', '/save']) {
        await expectKeys(laptop, `POST ${change}`, [...own, 'item'])
        expect(stored(laptop)?.sessmgr, change).toEqual(first)
        await expectKeys(laptop, 'GET /seen', [...own, 'item'])
      }
      if (name === 'Fastify') await expectKeys(laptop, 'POST /reload', [...own, 'item'])

      await expectKeys(laptop, 'POST /again', ['passport'])
      expect(await limiter.sessions.count(2)).toBe(1)
      expect(stored(laptop)?.sessmgr).toMatchObject(pair(idOf(laptop)))
      const before = idOf(laptop)
      await expectKeys(laptop, 'POST /rotate-here', ['passport'])
      expect(idOf(laptop)).not.toBe(before)
      expect(stored(laptop)?.sessmgr).toMatchObject(pair(idOf(laptop)))
      expect(await limiter.sessions.count(2)).toBe(1)
    },
  )

  test('with further options of its sessions, a request that changes nothing writes nothing either', async () => {
    for (const session of HOSTS[name].sessionOptions) {
      const { browser, writes } = await start(name, { session })
      const laptop = browser()
      await expectKeys(laptop, 'POST /passport', ['passport'])
      await expectKeys(laptop, 'POST /save', ['passport', 'item'])
      const before = writes()
      for (let turn = 0; turn < 3; turn++) await expectKeys(laptop, 'GET /seen', ['passport', 'item'])
      expect(writes(), JSON.stringify(session)).toBe(before)
    }
  })

  test('a session in memory has its pair too', async () => {
    for (const [path, own] of [['/passport', ['passport']] as const, ['/direct', []] as const]) {
      const { store, read } = MEMORY[name]()
      const { browser, limiter, idOf } = await start(name, { store })
      const laptop = browser()
      await expectKeys(laptop, `POST ${path}`, [...own])
      for (let turn = 0; turn < 2; turn++) {
        await expectKeys(laptop, 'GET /seen', [...own])
        expect(JSON.parse(JSON.stringify(read(idOf(laptop)))).sessmgr).toMatchObject(pair(idOf(laptop)))
      }
      await limiter.sessions.endAll(2)
      expect(read(idOf(laptop))).toBeUndefined()
    }
  })

  test('rule 46: a copy of a session that has ended is refused, and so is what is left of one', async () => {
    for (const path of ['/copy', '/empty?gate=copy']) {
      const { browser, limiter, gates, sessions } = await start(name)
      const laptop = browser()
      await laptop.post('/passport')
      const held = laptop.post(path)
      await gates.at('copy').arrived
      await limiter.sessions.endAll(2)
      gates.at('copy').open()
      await held
      await nextTurn()
      expect(
        sessions.ids().filter((id) => sessions.read(id)?.passport),
        path,
      ).toEqual([])
      expect([await laptop.me(), await limiter.sessions.count(2)], path).toEqual([401, 0])
    }
  })

  test('a session that the application empties keeps its slot and its pair, until its user goes too', async () => {
    const { browser, limiter, stored, idOf } = await start(name, {
      sessmgr: { settings: { maximum: 1, logic: 'block' } },
    })
    const laptop = browser()
    await laptop.post('/passport')
    for (let turn = 0; turn < 2; turn++) expect((await laptop.post('/empty')).status).toBe(200)
    expect([await laptop.me(), await limiter.sessions.count(2)]).toEqual([200, 1])
    expect(stored(laptop)).toMatchObject({ emptied: true, sessmgr: pair(idOf(laptop)) })
    expect((await browser().login('alice')).status).toBe(403)

    await expectKeys(laptop, 'POST /leave', ['emptied'])
    expect(stored(laptop)).not.toHaveProperty('sessmgr')
    expect([await laptop.me(), (await laptop.get('/nonce')).text, (await laptop.get('/state')).text]).toEqual([
      401,
      '',
      '{}',
    ])
    expect(await limiter.sessions.count(2)).toBe(0)
    expect((await browser().login('alice')).status).toBe(200)
  })

  test('a session from before sessmgr gets a pair in its first request', async () => {
    const { browser, sessions, limiter, stored, idOf } = await start(name, { session: { rolling: false } })
    const laptop = browser()
    await laptop.post('/passport')
    const { sessmgr: _, ...own } = stored(laptop) as Data
    sessions.sessions.set(idOf(laptop), JSON.stringify(own))
    await expectKeys(laptop, 'GET /seen', ['passport'])
    expect(stored(laptop)?.sessmgr).toMatchObject(pair(idOf(laptop)))
    const before = total({ sessions } as HostUnderTest)
    await expectKeys(laptop, 'GET /seen', ['passport'])
    expect(total({ sessions } as HostUnderTest)).toBe(before)
    expect(await limiter.sessions.count(2)).toBe(1)
  })
})

test('a store for koa-session hears that a session with a pair has changed', async () => {
  const sessions = new JsonSessions()
  const own = sessions.forPromises()
  const heard: unknown[] = []
  const store = {
    ...own,
    set(id: string, data: Data, _maxAge: unknown, { changed }: { changed: boolean }) {
      heard.push([Object.keys(data).includes('sessmgr'), changed])
      return own.set(id, data)
    },
  }
  const { browser } = await start('Koa', { sessions, store })
  const laptop = browser()
  await laptop.post('/passport')
  const { sessmgr: _, ...before } = sessions.read(sessions.ids()[0]) as Data
  sessions.sessions.set(String(sessions.ids()[0]), JSON.stringify(before))
  await laptop.get('/seen')
  expect(heard.at(-1)).toEqual([true, true])
})

test('a session of koa-session that the application commits itself hides its pair', async () => {
  const { browser, stored, idOf, clock, limiter } = await start('Koa', { session: { autoCommit: false } })
  const laptop = browser()
  await expectKeys(laptop, 'POST /passport', ['passport'])
  clock.advance(180_000)
  expect(await limiter.sessions.count(2)).toBe(1)
  expect(stored(laptop)?.sessmgr).toMatchObject(pair(idOf(laptop)))
  await expectKeys(laptop, 'POST /save', ['passport', 'item'])
  expect(stored(laptop)).toMatchObject({ item: 'milk', sessmgr: pair(idOf(laptop)) })
  await expectKeys(laptop, 'GET /seen', ['passport', 'item'])
})

test('a store of @fastify/session that responds at once is passed on at once', async () => {
  const kept = new Map<string, Data>()
  const store = Reflect.construct(MemoryStore as never, [kept])
  const { browser } = await startFastifyHost({
    store,
    further({ app }) {
      app.get('/at-once', async ({ session }) => {
        const decrypt = (app as unknown as { decryptSession: DecryptSession }).decryptSession
        const standIn: { session?: Data & Pick<FastifyRequest['session'], 'save'> } = {}
        const seen: unknown[] = []
        decrypt(String(session.encryptedSessionId), standIn, () => {
          seen.push(standIn.session?.cart)
          Object.assign(standIn.session ?? {}, { cart: ['milk'] })
          standIn.session?.save((error) => seen.push(error ?? 'saved', kept.get(session.sessionId)?.cart))
        })
        return [...seen]
      })
    },
  })
  const laptop = browser()
  await laptop.post('/cart', { item: 'tea' })
  expect((await laptop.get('/at-once')).json()).toEqual([['tea'], 'saved', ['milk']])
})

test('on Fastify, the session tells the application truly whether it is modified', async () => {
  const told: unknown[] = []
  const { browser } = await startFastifyHost({
    session: { rolling: false },
    further({ app, limiter }) {
      app.post('/truth', async ({ session }) => {
        told.push(session.isModified())
        ;(session as unknown as Data).item = 'tea'
        told.push(session.isModified())
        await session.save()
        told.push(session.isModified())
      })
      app.post('/fresh', async (request) => {
        await limiter.login(request, findUser('alice'))
        told.push(request.session.isModified())
        await request.session.save()
        told.push(request.session.isModified())
      })
    },
  })
  const laptop = browser()
  await laptop.post('/fresh')
  await laptop.post('/truth')
  expect(told).toEqual([true, false, false, true, false])
})
