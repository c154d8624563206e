import './styles/tokens.css'
import './styles/frame.css'
import './styles/parts.css'
import './styles/fields.css'
import './styles/overlays.css'
import './styles/sections.css'
import './styles/tables.css'
import './styles/cells.css'
import './styles/sessions.css'
import './styles/print.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { exposeScreen } from './expose-screen.ts'
import { loadFirst } from './loading/load-first.ts'
import { loadOthers } from './loading/load-others.ts'
import { PartBoundary } from './parts/feedback/part-boundary.tsx'
import { mount, onlyTab, place, queries, vars } from './screen.ts'
import { Shell } from './shell/shell.tsx'

exposeScreen()
const first = [...(vars.first?.values() ?? [])]
// Until then, the page shows the outline that came with it.
void loadFirst(place.key() || (onlyTab ?? 'sessions'), new URLSearchParams(place.query()))
  // A task of its own, so that a slow device stays responsive.
  .then(() => new Promise((resolve) => setTimeout(resolve)))
  .then(() => {
    createRoot(mount).render(
      <StrictMode>
        <PartBoundary name={vars.name}>
          <QueryClientProvider client={queries}>
            <Shell />
          </QueryClientProvider>
        </PartBoundary>
      </StrictMode>,
    )
    if (document.readyState === 'complete') void loadOthers(first)
    else window.addEventListener('load', () => void loadOthers(first), { once: true })
  })
