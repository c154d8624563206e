import { fail, redirect } from '@sveltejs/kit'
import { signIn } from '../sessions.server'
import type { Actions, PageServerLoad } from './$types'

const users = [{ id: 'u1', login: 'alice' }] // your database, which ignores case in names
const findUser = (name = '') => users.find(({ login }) => login === name.toLowerCase())

export const load: PageServerLoad = ({ locals }) => ({ userId: locals.userId })

export const actions: Actions = {
  default: async (event) => {
    const form = await event.request.formData()
    const user = form.get('password') === 'secret' && findUser(String(form.get('username')))
    if (!user) return fail(401, { message: 'Wrong name or password' })
    const message = await signIn(event, user.id)
    return message ? fail(403, { message }) : redirect(303, '/')
  },
}
