import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import express from 'express'
import session from 'express-session'
import {
  type LazyComments,
  memoryStore,
  type RenderContext,
  type Sessmgr,
  type SessmgrStore,
  sessmgr,
  type Theme,
} from '../../src/index.ts'
import { RestClient } from './rest-client.ts'
import { createRestUsers, restHostOf } from './rest-users.ts'
import { serve } from './serve.ts'

/** A post of the comment tests. */
export interface TestPost {
  readonly id: number
  readonly status: 'published' | 'draft'
  readonly password?: string
  /** Markup of the comments, which the theme trusts. */
  readonly comments: readonly string[]
}

/** What can happen to a request instead of a response. */
type Failure = number | { status: number; headers: Record<string, string> } | 'cut' | undefined

/** How the application is set up. */
export interface CommentsHostOptions {
  readonly store?: SessmgrStore
  readonly deadlineMs?: number
  readonly theme?: Theme<TestPost>
  /** Whether the application is behind a proxy. @default false */
  readonly isBehindProxy?: boolean
}

/** An application with posts, a strict policy and the lazy comments. */
export interface CommentsHost {
  readonly origin: string
  readonly limiter: Sessmgr
  readonly comments: LazyComments
  readonly client: RestClient
  readonly logs: unknown[][]
  /** Ids of the posts that were requested from the application. */
  readonly asked: number[]
  /** Requests that reached the comments route. */
  readonly requests: IncomingMessage[]
  /**
   * What happens to the next requests for the comments route, in order. A status is sent at once, with its headers. 0
   * sends no response, 'cut' breaks off in the middle, and undefined lets the request pass.
   */
  readonly failures: Failure[]
  readonly posts: Map<number, TestPost>
  /** Renders the comments of the classic theme. A test may replace it. */
  render: (post: TestPost, reader: string | undefined) => string | Promise<string>
  /** How often the theme has rendered. */
  renders: number
  /** Signs in, and returns cookie and nonce. */
  signIn(login: string): Promise<{ cookie: string; nonce: string }>
  close(): Promise<void>
}

const paragraph = (html: string, index: number) =>
  `<article id="comment-${index + 1}"><h3>Reader</h3><p>${html}</p></article>`

/** Returns the comments as the classic theme renders them. */
export function threadOf({ id, comments }: TestPost, name = 'guest'): string {
  const form = `<form id="respond" method="post" action="/posts/${id}"><label>As ${name} <input name="text"></label></form>`
  return `<section id="comments"><h2>${comments.length} comments</h2>${comments.map(paragraph).join('')}${form}</section>`
}

/** Creates this many comments. */
export const voices = (count: number) => Array.from({ length: count }, (_, index) => `Voice ${index + 1}.`)

/** Starts the application on a free port of 127.0.0.1. */
export async function startCommentsHost(options: CommentsHostOptions = {}): Promise<CommentsHost> {
  const users = createRestUsers()
  const logs: unknown[][] = []
  const asked: number[] = []
  const requests: IncomingMessage[] = []
  const failures: Failure[] = []
  const posts = new Map<number, TestPost>()
  for (const id of [1, 2, 3]) posts.set(id, { id, status: 'published', comments: voices(20) })
  posts.set(4, { id: 4, status: 'draft', comments: voices(2) })
  posts.set(5, { id: 5, status: 'published', password: 'open', comments: voices(2) })
  const theme = options.theme ?? {
    renderComments: (post: TestPost, { userId }: RenderContext) => {
      host.renders += 1
      return host.render(post, users.find(({ id }) => id === userId)?.login)
    },
  }
  const note = (...line: unknown[]) => void logs.push(line)
  const limiter = sessmgr({
    store: options.store ?? memoryStore(),
    settings: { maximum: 50 },
    deadlineMs: options.deadlineMs,
    logger: { warn: note, error: note },
    host: {
      ...restHostOf(users),
      posts: {
        find: (id) => {
          asked.push(id)
          return posts.get(id)
        },
        id: ({ id }: TestPost) => id,
        url: ({ id }: TestPost) => `/posts/${id}`,
        isPublic: ({ status }: TestPost) => status === 'published',
        hasPassword: ({ password }: TestPost) => password !== undefined,
        isLocked: ({ password }: TestPost, request: unknown) =>
          (request as IncomingMessage).headers['x-password'] !== password,
        countComments: ({ comments }: TestPost) => comments.length,
      },
      theme,
    },
  })
  const comments = limiter.comments as LazyComments

  const app = express()
  app.set('trust proxy', options.isBehindProxy ?? false)
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.use('/api/lazycomments/v1/comments', (req, res, next) => {
    requests.push(req)
    const failure = failures.shift()
    if (failure === undefined) next()
    else if (failure === 'cut') res.set('Content-Length', '9').write('{"html":', () => req.socket.destroy())
    else if (typeof failure === 'object') res.status(failure.status).set(failure.headers).json({ code: 'failed' })
    else if (failure > 0) res.status(failure).json({ code: 'failed' })
  })
  app.use('/api', limiter.router())
  app.post('/login/:name', (req, res, next) => {
    const user = users.find(({ login }) => login === req.params.name)
    limiter.login(req, user).then(() => res.send('in'), next)
  })
  app.post('/logout', (req, res, next) => void limiter.logout(req).then(() => res.send('out'), next))
  app.get('/nonce', async (req, res) => void res.send((await limiter.nonce(req)) ?? ''))
  app.get('/posts/:id', async (req, res) => {
    const post = posts.get(Number(req.params.id))
    if (!post) return void res.sendStatus(404)
    const nonce = randomBytes(16).toString('base64')
    res.setHeader(
      'Content-Security-Policy',
      `default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'nonce-${nonce}'; img-src data:; ` +
        "connect-src 'self'; form-action 'self'; frame-ancestors 'self'; base-uri 'none'; " +
        "require-trusted-types-for 'script'; trusted-types lazycomments",
    )
    const [head, area] = await Promise.all([comments.script(req, post, { nonce }), comments.render(req, post)])
    const second = 'twice' in req.query ? await comments.placeholder(posts.get(2), req) : ''
    const style = `<style nonce="${nonce}">#space{height:${Number(req.query.space ?? 3000)}px}</style>`
    res.send(
      `<!doctype html><html lang="en"><head><title>Post</title><meta name="viewport" content="width=device-width">` +
        `<link rel="icon" href="data:,">${style}${head}</head><body><main><h1>Post</h1>` +
        `<div id="space"><a href="#comment-17">What reader 17 says</a></div>${area}${second}</main>` +
        `<footer><p>The end of the page</p></footer></body></html>`,
    )
  })
  const { origin, close } = await serve(app)
  const client = new RestClient(origin)

  const host: CommentsHost = {
    origin,
    limiter,
    comments,
    client,
    logs,
    asked,
    requests,
    failures,
    posts,
    render: threadOf,
    renders: 0,
    async signIn(login) {
      const { headers } = await client.send('POST', `/login/${login}`)
      const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? ''
      return { cookie, nonce: (await client.send('GET', '/nonce', { headers: { cookie } })).text }
    },
    async close() {
      await close()
      await limiter.close()
    },
  }
  return host
}
