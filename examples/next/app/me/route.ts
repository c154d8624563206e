import { route, signOut } from '../../lib/sessions'

export const GET = route(async (_request, user) => Response.json({ user: user ?? null }, { status: user ? 200 : 401 }))

export const DELETE = route(async (request) => {
  await signOut(request)
  return new Response(null, { status: 204 })
})
