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
}
