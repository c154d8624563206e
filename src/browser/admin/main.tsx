import './styles/tokens.css'
import './styles/frame.css'
import './styles/parts.css'
import './styles/fields.css'
import './styles/overlays.css'
import './styles/sections.css'
import './styles/tables.css'
import './styles/cells.css'
import './styles/sessions.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { exposeScreen } from './expose-screen.ts'
import { PartBoundary } from './parts/feedback/part-boundary.tsx'
import { mount, queries, vars } from './screen.ts'
import { Shell } from './shell/shell.tsx'

exposeScreen()
createRoot(mount).render(
  <StrictMode>
    <PartBoundary name={vars.name}>
      <QueryClientProvider client={queries}>
        <Shell />
      </QueryClientProvider>
    </PartBoundary>
  </StrictMode>,
)
