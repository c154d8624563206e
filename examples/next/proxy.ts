import { type NextRequest, NextResponse } from 'next/server'
import { userOf } from './lib/sessions'

export const config = { matcher: '/private/:path*' }

export async function proxy(request: NextRequest) {
  return (await userOf(request)) ? NextResponse.next() : NextResponse.redirect(new URL('/', request.url))
}
