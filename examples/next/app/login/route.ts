import { route, signIn } from '../../lib/sessions'

const users = [{ id: 'u1', login: 'alice' }] // your database, which ignores case in names
const findUser = (name = '') => users.find(({ login }) => login === name.toLowerCase())

export const POST = route(async (request) => {
  const form = await request.formData()
  const user = form.get('password') === 'secret' && findUser(String(form.get('username')))
  if (!user) return new Response('Wrong name or password', { status: 401 })
  const refusal = await signIn(request, user.id)
  if (refusal) return new Response(refusal, { status: 403 })
  return new Response(null, { status: 303, headers: { Location: '/' } })
})
