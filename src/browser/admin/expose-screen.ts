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

/** API for add-ons on `window.sessmgr`, next to the page's variables. */
const SCREEN_API = {
  /** The hooks of the screen. */
  hooks,
  /** The API of React, provided by the screen's Preact, for add-ons to use. */
  react: React,
  /** `jsx`, `jsxs` and `Fragment`, for compiled JSX. */
  jsxRuntime,
  /** Reads and edits an option. The edit is saved by the Save Changes button. */
  useOption,
  /** Calls a REST route with the latest nonce: `request('GET', 'my-addon/v1/things')`. */
  request: rest.request,
  /** Shows a short message: `toast('Done.')`, `toast('That failed.', 'error')`. */
  toast: toasts.show,
  /** Components of the screen. */
  components: { Button, Choice, Notice, NumberField, Panel, TextField, Toggle },
}

/**
 * Adds the API to `window.sessmgr`. Its properties are not enumerable, so that listing or copying the variables skips
 * them.
 */
export function exposeScreen(): void {
  for (const [name, value] of Object.entries(SCREEN_API)) Object.defineProperty(window.sessmgr, name, { value })
}
