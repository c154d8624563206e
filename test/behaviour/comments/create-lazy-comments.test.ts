import { setImmediate as nextTurn } from 'node:timers/promises'
import express, { type RequestHandler } from 'express'
import session from 'express-session'
import { describe, expect, it } from 'vitest'
import { createLazyComments, type LazyCommentsOptions } from '../../../src/comments.ts'
import { listen } from '../../support/listen.ts'
import { basic, RestClient } from '../../support/rest-client.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

declare module 'express-session' {
  interface SessionData {
    user: number
  }
}

interface Post {
  readonly id: number
  readonly comments: number
}

const POSTS: readonly Post[] = [1, 2].map((id) => ({ id, comments: id === 1 ? 3 : 0 }))
const users = createRestUsers()
const { users: hostUsers, can } = restHostOf(users)

const posts = {
  // A database that gives null for what it has not.
  find: (id: number) => POSTS.find((post) => post.id === id) ?? null,
  id: ({ id }: Post) => id,
  url: ({ id }: Post) => `/posts/${id}`,
  isPublic: () => true,
  countComments: ({ comments }: Post) => comments,
}
const theme = {
  renderComments: ({ comments }: Post, { userId }: { userId: unknown }) =>
    `<p id="comments">${comments} comments, for ${userId ?? 'a guest'}</p>`,
}

async function start(given: Partial<LazyCommentsOptions> = {}, ...before: RequestHandler[]) {
  const comments = createLazyComments({ host: { posts, theme }, ...given })
  const app = express()
  app.use(...before, (_req, _res, next) => next())
  app.use('/api', comments.router())
  app.get('/posts/:id', async (req, res) => {
    const post = posts.find(Number(req.params.id))
    res.send((await comments.script(req, post)) + (await comments.render(req, post)))
  })
  const client = new RestClient(await listen(app))
  return { comments, client }
}

/** A host with sessions and users of its own, and no sessmgr. */
const startWithUsers = (given: Partial<LazyCommentsOptions> = {}) =>
  start(
    { host: { posts, theme, users: hostUsers, can }, ...given },
    session({ secret: 'test', resave: false, saveUninitialized: false }),
    (req, res, next) => {
      const { as } = req.query
      if (as) req.session.user = Number(as)
      req.user = users.find(({ id }) => id === req.session.user) as Express.User
      if (as) res.send('in')
      else next()
    },
  )

const ROUTE = '/api/lazycomments/v1/comments?post_id=1'
const CACHE = '/api/lazycomments/v1/cache'
const USER_AGENT = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }

describe('createLazyComments() without users', () => {
  it('gives the placeholder, the script, and the comments to fetch, and nothing of the session limit', async () => {
    const { client } = await start()
    const page = await client.send('GET', '/posts/1', { headers: USER_AGENT })
    expect(page.text).toContain('<lazy-comments id="comments" post="1" src="/api/lazycomments/v1/comments?post_id=1"')
    const [, script] = /<script type="module" src="([^"]+)"/.exec(page.text) ?? []
    expect((await client.send('GET', String(script))).status).toBe(200)
    expect((await client.send('GET', ROUTE)).json).toEqual({ html: '<p id="comments">3 comments, for a guest</p>' })
    expect((await client.send('GET', '/posts/2', { headers: USER_AGENT })).text).toMatch(/^<p id="comments">0 comments/)
    expect((await client.send('GET', '/api/sessmgr/v1/settings')).status).toBe(404)
    expect((await client.send('DELETE', CACHE)).status).toBe(401)
    expect((await client.send('DELETE', CACHE, { headers: basic('admin', 'x') })).status).toBe(401)
  })

  it('keeps every cookie out of what caches may keep, which is nothing for who sends credentials or is signed in', async () => {
    const { client } = await start(
      { user: ({ headers }) => headers['x-user'] },
      (_req, res, next) => {
        res.cookie('language', 'en')
        res.vary('Origin')
        next()
      },
      session({ secret: 'test', resave: false, saveUninitialized: true }),
    )
    const page = await client.send('GET', '/posts/1', { headers: USER_AGENT })
    expect(page.headers['set-cookie']).toHaveLength(2)
    const [, script = ''] = /<script type="module" src="([^"]+)"/.exec(page.text) ?? []
    for (const path of [ROUTE, '/api/lazycomments/v1/comments?post_id=9', script]) {
      const { headers } = await client.send('GET', path)
      expect([headers['set-cookie'], headers['cache-control']]).toEqual([undefined, expect.stringMatching(/^public/)])
    }
    expect((await client.send('GET', ROUTE)).headers.vary).toMatch(/^Origin, Accept-Encoding, Cookie, /)
    for (const headers of [{ 'x-user': 'alice' }, { authorization: 'Bearer x' }, { cookie: 'a=b' }]) {
      const kept = (await client.send('GET', ROUTE, { headers })).headers['cache-control']
      expect(kept, JSON.stringify(headers)).toBe('private, no-store')
    }
  })

  it('rule 35: the link of a post leads to its comments, whatever its address', async () => {
    for (const url of ['/posts/1?comments=new', '/posts/1?a=what?', '/posts/1?a=b#c?d']) {
      const { client } = await start({ host: { posts: { ...posts, url: () => url }, theme } })
      const { text } = await client.send('GET', '/posts/1', { headers: USER_AGENT })
      const [, link = ''] = / href="([^"]+)#comments"/.exec(text) ?? []
      const inline = await client.send('GET', link.replaceAll('&amp;', '&'), { headers: USER_AGENT })
      expect(inline.text, url).toBe('<p id="comments">3 comments, for a guest</p>')
    }
  })
})

describe('createLazyComments() with users', () => {
  const signIn = async (client: RestClient, id: number) => {
    const answer = await client.send('GET', `/?as=${id}`)
    const cookie = String(answer.headers['set-cookie']?.[0]?.split(';')[0])
    const page = await client.send('GET', '/posts/1', { headers: { ...USER_AGENT, cookie } })
    const [, nonce = ''] = /data-nonce="([^"]+)"/.exec(page.text) ?? []
    return { cookie, nonce }
  }

  it('never lends the name of a reader whom no cookie tells to a guest who asks at the same moment', async () => {
    let asked = 0
    const slow = {
      async renderComments(post: Post, context: { userId: unknown }) {
        while (asked < 2) await nextTurn()
        return theme.renderComments(post, context)
      },
    }
    const user = ({ headers }: { headers: NodeJS.Dict<string | string[]> }) =>
      users.find(({ login }) => login === headers['x-user'])
    const { client } = await start({ host: { posts, theme: slow, users: hostUsers, can }, user }, (req, _res, next) => {
      if (req.path.startsWith('/api')) asked += 1
      next()
    })
    const alice = { 'x-user': 'alice' }
    const page = await client.send('GET', '/posts/1', { headers: { ...USER_AGENT, ...alice } })
    const [, nonce = ''] = /data-nonce="([^"]+)"/.exec(page.text) ?? []
    const answers = await Promise.all([
      client.send('GET', ROUTE, { headers: { ...alice, 'x-host-nonce': nonce } }),
      client.send('GET', ROUTE),
    ])
    expect(answers.map(({ json }) => json.html.split(', ')[1])).toEqual(['for 2</p>', 'for a guest</p>'])
  })

  it('rule 19: renders for a reader by their own nonce, and lets an administrator clear the cache by it', async () => {
    const { comments, client } = await startWithUsers()
    const [admin, alice, bob] = [await signIn(client, 1), await signIn(client, 2), await signIn(client, 3)]
    const ask = (method: string, path: string, { cookie, nonce }: { cookie: string; nonce: string }) =>
      client.send(method, path, { headers: { cookie, 'x-host-nonce': nonce } })
    const own = await ask('GET', ROUTE, alice)
    expect([own.json.html.includes('for 2'), own.headers['cache-control']]).toEqual([true, 'private, no-store'])
    expect(own.headers['x-host-nonce']).toMatch(/^[\w-]{32}$/)
    const foreign = await ask('GET', ROUTE, { ...alice, nonce: bob.nonce })
    expect([foreign.status, foreign.json.code]).toEqual([403, 'rest_cookie_invalid_nonce'])

    expect([(await ask('DELETE', CACHE, admin)).status, (await ask('DELETE', CACHE, alice)).status]).toEqual([200, 403])
    const [, sessionID] = /s%3A([^.]+)/.exec(admin.cookie) ?? []
    const as = (user?: object) => ({ user, sessionID, headers: {} }) as never
    expect(await comments.nonce(as())).toBeUndefined()
    const nonce = String(await comments.nonce(as(users.find(({ id }) => id === 1))))
    expect((await ask('DELETE', CACHE, { ...admin, nonce })).status).toBe(200)
    await expect(comments.nonce(undefined as never)).rejects.toMatchObject({ code: 'invalid_option', status: 500 })
  })

  it('lets a script clear the cache with an application password', async () => {
    const { comments, client } = await startWithUsers()
    const { password } = await comments.passwords.create(1, 'deployment')
    const clear = (login: string) => client.send('DELETE', CACHE, { headers: basic(login, password) })
    expect([(await clear('admin')).status, (await clear('alice')).status]).toEqual([200, 401])
  })
})
