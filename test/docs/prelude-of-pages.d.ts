// What stands around the lines of the documentation that run in a page: the screen's own names, and a reader's.
import type { useOption } from '../../src/browser/admin/options/use-options.ts'
import type { Button } from '../../src/browser/admin/parts/button.tsx'
import type { Notice } from '../../src/browser/admin/parts/feedback.tsx'
import type { Choice, NumberField, TextField, Toggle } from '../../src/browser/admin/parts/fields.tsx'

import type { Panel } from '../../src/browser/admin/parts/panel.tsx'
import type { hooks, rest, toasts } from '../../src/browser/admin/screen.ts'

declare module '../../src/browser/admin/screen.ts' {
  interface ScriptVars {
    readonly hooks: typeof hooks
    readonly react: typeof import('react')
    readonly jsxRuntime: typeof import('react/jsx-runtime')
    readonly useOption: typeof useOption
    readonly request: typeof rest.request
    readonly toast: typeof toasts.show
    readonly components: {
      Button: typeof Button
      Choice: typeof Choice
      NumberField: typeof NumberField
      TextField: typeof TextField
      Notice: typeof Notice
      Panel: typeof Panel
      Toggle: typeof Toggle
    }
  }
}

declare global {
  /** The nonce that a page was given. */
  let nonce: string
  const betterAuth: typeof import('better-auth').betterAuth
  const bearer: typeof import('better-auth/plugins').bearer
  const jwt: typeof import('better-auth/plugins').jwt
  const twoFactor: typeof import('better-auth/plugins').twoFactor
  /** The database of better-auth. */
  const database: import('better-auth').BetterAuthOptions['database']
  /** The plugin of docs/better-auth.md. */
  const plugin: import('../../src/better-auth.ts').SessionLimitPlugin
  const tokenOf: typeof import('../../src/index.ts').tokenOf
  /** A page of the reader's own. */
  function page(notice: unknown, headers: Headers): Response
}
