import { route, signIn } from '../../lib/sessions'

export const POST = route(async (request) => {
  const form = await request.formData()
  if (form.get('password') !== 'secret') return new Response('Wrong password', { status: 401 })
  const refusal = await signIn(request, String(form.get('username')))
  if (refusal) return new Response(refusal, { status: 403 })
  return new Response(null, { status: 303, headers: { Location: '/' } })
})
