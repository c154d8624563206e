import './styles/tokens.css'
import './styles/frame.css'
import './styles/parts.css'
import './styles/fields.css'
import './styles/overlays.css'
import './styles/sections.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { Direction } from 'radix-ui'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { exposeScreen } from './expose-screen.ts'
import { PartBoundary } from './parts/feedback/part-boundary.tsx'
import { mount, queries, vars } from './screen.ts'
import { Shell } from './shell/shell.tsx'
import { direction } from './texts/locale.ts'

exposeScreen()
createRoot(mount).render(
  <StrictMode>
    <PartBoundary name={vars.name}>
      <QueryClientProvider client={queries}>
        <Direction.Provider dir={direction}>
          <Shell />
        </Direction.Provider>
      </QueryClientProvider>
    </PartBoundary>
  </StrictMode>,
)
