import { NextResponse } from 'next/server'
import { route } from './lib/sessions'

// A page cannot set its status, so the proxy responds with 503 during an outage.
export const config = { matcher: ['/', '/private/:path*'] }

export const proxy = route(async (request, user) => {
  const isPublic = new URL(request.url).pathname === '/'
  return user || isPublic ? NextResponse.next() : NextResponse.redirect(new URL('/', request.url))
})
