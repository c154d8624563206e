import { Readable } from 'node:stream'
import { SessmgrError } from '../../ground/errors.ts'
import { keepCookiesOut } from '../../routes/answer.ts'
import type { Middleware } from '../../service/service.ts'
import { answerOf } from '../answer-of.ts'
import type { KoaMiddleware } from './koa-types.ts'

/**
 * Returns a middleware that serves the REST routes, or the admin screen, under a path.
 *
 * @throws SessmgrError `invalid_option` for a path that does not look like `/api`.
 * @example
 * app.use(koaRoutes('/api', limiter.router()))
 */
export function koaRoutes(prefix: string, serve: Middleware): KoaMiddleware {
  if (!/^(\/[^?#]*[^/?#])?$/.test(prefix)) {
    throw new SessmgrError('invalid_option', 'The path of koaRoutes() must look like "/api", or "" for the root.')
  }

  return async function sessmgrRoutes(context, next) {
    const { req, url, originalUrl, ip, request } = context
    const path = url.split('?', 1)[0] ?? ''
    if (path !== prefix && !path.startsWith(`${prefix}/`)) return void (await next())
    const { body } = request as { body?: unknown }
    const vary = context.res.getHeader('Vary')?.toString()
    const rest = url.slice(prefix.length)
    const baseUrl = baseOf(originalUrl, path.slice(prefix.length)) ?? prefix
    const below = rest.startsWith('/') ? rest : `/${rest}`
    const mounting = { baseUrl, url: below, originalUrl, ip, own: context, body, vary }
    const answer = await answerOf(serve, req, mounting)
    if (!answer) return void (await next())
    context.status = answer.status
    context.body = answer.body ?? ''
    // After an error, Koa 2 would leave the connection open, and the client waiting.
    if (answer.body instanceof Readable) answer.body.once('error', () => context.res.destroy())
    // Set last, because Koa itself sets the type and length of a body.
    const { 'set-cookie': cookies = [], ...headers } = answer.headers
    context.set(headers as Record<string, string | string[]>)
    const others = context.res.getHeader('Set-Cookie') ?? []
    if (cookies.length > 0) context.set({ 'Set-Cookie': [others, cookies].flat().map(String) })
    if (answer.isPublic) keepCookiesOut(context.res)
  }
}

/** Returns the path before the routes, as the browser requested it. With koa-mount, this is longer than the prefix. */
function baseOf(originalUrl: string, below: string): string | undefined {
  const asked = originalUrl.split('?', 1)[0] ?? ''
  // A URL that starts with two slashes points to another site.
  return asked.endsWith(below) ? asked.slice(0, asked.length - below.length).replaceAll(/[\\/]+/g, '/') : undefined
}
