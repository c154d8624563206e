import type { HostRequest } from '../../guard/host-types.ts'
import { type Admit, limitPassportLogins } from '../../middleware/passport-login.ts'
import { loginRefused } from '../../middleware/refuse-login.ts'
import type { KoaVisit } from './koa-visit.ts'

type LogIn = (user: unknown, options?: { session?: boolean }) => Promise<void>

/**
 * Puts the limit in front of every login of koa-passport.
 *
 * It shows Passport requests that it makes from the one of Koa, and assigns `logIn` to each: an accessor on the prototype
 * of Koa's requests catches that. What it has put on the context before this is wrapped.
 */
export function limitKoaLogins(visit: KoaVisit, admit: Admit): void {
  const { context, view } = visit
  const admitThis: Admit = (_request, user, establish) => admit(view, user, establish)
  limitPassportLogins(context.request as HostRequest, context.res, admitThis, context.app.request)

  for (const name of ['logIn', 'login']) {
    const logIn = context[name] as LogIn | undefined
    if (typeof logIn === 'function') context[name] = limitedLogIn(visit, logIn, admitThis)
  }
}

function limitedLogIn(visit: KoaVisit, logIn: LogIn, admit: Admit): LogIn {
  return async (user, options = {}) => {
    if (options.session === false) return logIn(user, options)
    const { state } = visit.context
    const before = { ...state }
    try {
      const admission = await admit(visit.view, user, () => logIn(user, options))
      if (!admission.admitted) throw loginRefused(admission.message)
    } catch (error) {
      for (const key of Object.keys(state)) if (!(key in before)) delete state[key]
      Object.assign(state, before)
      throw error
    }
  }
}
