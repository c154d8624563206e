import { fail, redirect } from '@sveltejs/kit'
import { signIn } from '../sessions.server'
import type { Actions, PageServerLoad } from './$types'

export const load: PageServerLoad = ({ locals }) => ({ userId: locals.userId })

export const actions: Actions = {
  default: async (event) => {
    const form = await event.request.formData()
    if (form.get('password') !== 'secret') return fail(401, { message: 'Wrong password' })
    const message = await signIn(event, String(form.get('username')))
    return message ? fail(403, { message }) : redirect(303, '/')
  },
}
