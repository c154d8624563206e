import type { Handle } from '@sveltejs/kit'
import { cookiesFor, devices, userOf } from './sessions.server'

export const handle: Handle = async ({ event, resolve }) => {
  const userId = await userOf(event)
  if (userId) event.locals.userId = userId
  const response = (await devices(event.request)) ?? (await resolve(event))
  for (const cookie of cookiesFor(event.request)) response.headers.append('Set-Cookie', cookie)
  return response
}
