import { NextResponse } from 'next/server'
import { route } from './lib/sessions'

// A page cannot choose its status, so during an outage the proxy responds for it.
export const config = { matcher: ['/', '/private/:path*'] }

export const proxy = route(async (request, user) => {
  const isPublic = new URL(request.url).pathname === '/'
  return user || isPublic ? NextResponse.next() : NextResponse.redirect(new URL('/', request.url))
})
