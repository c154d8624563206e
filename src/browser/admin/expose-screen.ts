import * as React from 'react'
import * as jsxRuntime from 'react/jsx-runtime'
import { useOption } from './options/use-option.ts'
import { Button } from './parts/button.tsx'
import { Notice } from './parts/feedback/notice.tsx'
import { Choice } from './parts/forms/choice.tsx'
import { NumberField, TextField } from './parts/forms/fields.tsx'
import { Toggle } from './parts/forms/toggle.tsx'
import { Panel } from './parts/panel.tsx'
import { hooks, rest, toasts } from './screen.ts'

/** What add-ons find on `window.sessmgr`, beside the variables of the page. */
const SCREEN_API = {
  /** The hooks of the screen. */
  hooks,
  /** The copy of React that the screen runs on: an add-on brings none of its own. */
  react: React,
  /** `jsx`, `jsxs` and `Fragment`, for what compilers make of JSX. */
  jsxRuntime,
  /** Reads and edits an option; the edit is saved by the button Save Changes. */
  useOption,
  /** Calls a REST route with the newest nonce: `request('GET', 'my-addon/v1/things')`. */
  request: rest.request,
  /** Shows a short note: `toast('Done.')`, `toast('That failed.', 'error')`. */
  toast: toasts.show,
  /** What the screen itself is made of. */
  components: { Button, Choice, Notice, NumberField, Panel, TextField, Toggle },
}

/** Completes `window.sessmgr`. What is added does not show up among the variables, which may be listed and copied. */
export function exposeScreen(): void {
  for (const [name, value] of Object.entries(SCREEN_API)) Object.defineProperty(window.sessmgr, name, { value })
}
