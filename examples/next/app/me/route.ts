import { signOut, userOf } from '../../lib/sessions'

export async function GET(request: Request) {
  const user = await userOf(request)
  return Response.json({ user: user ?? null }, { status: user ? 200 : 401 })
}

export async function DELETE() {
  await signOut()
  return new Response(null, { status: 204 })
}
