import { callable, type Declared, must, whole } from '../../ground/option-checks.ts'

/** Options of boundSessions(). Omitted or undefined options use their defaults. */
export interface BoundOptions {
  /**
   * Path below which browsers register their key and prove that they have it. It must lie below the path of the session
   * cookie. @default '/session'
   */
  readonly path?: string | undefined
  /** The same path as browsers must request it, if a proxy changes paths. @default as in the request */
  readonly url?: string | undefined
  /**
   * After how many seconds a browser has to prove again that it has its key, from 60 to 86,400. A copied cookie is
   * useless after at most twice this time. @default 600
   */
  readonly proofSeconds?: number | undefined
  /**
   * Decides whether the session of a request must be bound. A browser that has not bound it within two minutes of the
   * login gets a 401 response, and so do sessions from before. Passport has not run yet, so use
   * `request.sessmgr.session`. @default never
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its requests.
  readonly required?: ((request: any) => boolean) | undefined
}

const isPath = (value: unknown) => typeof value === 'string' && /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/.test(value)

export const OPTIONS = {
  path: [must('be a path such as "/session"', isPath), '/session'],
  url: [must('be a path such as "/shop/session"', isPath)],
  proofSeconds: [whole(60, 86_400), 600],
  required: [callable('(request) => isAdmin(request.sessmgr.session.userId)'), () => false],
} as const satisfies Declared<BoundOptions>
