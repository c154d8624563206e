import './styles/tokens.css'
import './styles/frame.css'
import './styles/parts.css'
import './styles/print.css'
import * as React from 'react'
import { StrictMode } from 'react'
import * as jsxRuntime from 'react/jsx-runtime'
import { createRoot } from 'react-dom/client'
import { useOption } from './options/use-options.ts'
import { Button } from './parts/button.tsx'
import { Notice, PartBoundary } from './parts/feedback.tsx'
import { Choice, NumberField, TextField, Toggle } from './parts/fields.tsx'
import { Panel } from './parts/panel.tsx'
import { hooks, mount, place, rest, toasts, vars } from './screen.ts'
import { refuseForeignElements } from './shell/foreign-react.ts'
import { keepPlace } from './shell/kept-place.ts'
import { loadFirst } from './shell/late-parts.ts'
import { Shell } from './shell/shell.tsx'
import { TextsProvider } from './texts/use-texts.ts'

/** API for add-ons on `window.sessmgr`, alongside the page's variables. */
const SCREEN_API = {
  /** The hooks of the screen. */
  hooks,
  /** The React API for add-ons, provided by the screen's Preact. */
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

// Not enumerable, so that listing or copying the variables skips them.
for (const [name, value] of Object.entries(SCREEN_API)) Object.defineProperty(window.sessmgr, name, { value })

refuseForeignElements()
keepPlace(mount)

// Until the open tab is loaded, the page shows the outline that the server rendered.
void loadFirst(new URLSearchParams(place.query()).get('user') ?? '')
  // Render in a separate task, so that a slow device stays responsive.
  .then(() => new Promise((resolve) => setTimeout(resolve)))
  .then(() => {
    createRoot(mount).render(
      <StrictMode>
        <TextsProvider>
          <PartBoundary name={vars.name}>
            <Shell />
          </PartBoundary>
        </TextsProvider>
      </StrictMode>,
    )
  })
