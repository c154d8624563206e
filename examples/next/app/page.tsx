import { headers } from 'next/headers'
import { userOf } from '../lib/sessions'

export default async function Page() {
  // A server component has no request, only its headers.
  const user = await userOf(new Request('http://localhost', { headers: await headers() }))
  if (user) return <p>You are signed in as {user}.</p>
  return (
    <form method="post" action="/login">
      <input name="username" /> <input name="password" type="password" /> <button type="submit">Sign in</button>
    </form>
  )
}
