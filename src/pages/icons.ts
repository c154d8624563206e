import type { DeviceKind } from '../sessions/device-name.ts'
import { html, type Markup } from './markup.ts'

const PATHS = {
  computer: 'M4 5h16v10H4zM9 19h6M12 15v4',
  phone: 'M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1ZM11 18h2',
  tablet: 'M6 3h12a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1ZM11 18h2',
  program: 'M4 5h16v14H4zM8 10l2.5 2L8 14M13 14h3',
  done: 'M5 12.5 10 17l9-10',
  warning: 'M12 8v5M12 16.5v.01M12 3.5 21 19.5H3L12 3.5Z',
  back: 'M19 12H5M11 6l-6 6 6 6',
} as const

/** Draws an icon, whose meaning is in the text next to it. */
export function icon(name: keyof typeof PATHS): Markup {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${PATHS[name]}"/></svg>`
}

/** Draws the icon of a device. */
export function deviceIcon(kind: DeviceKind): Markup {
  return html`<span class="icon">${icon(kind === 'phone' || kind === 'tablet' || kind === 'program' ? kind : 'computer')}</span>`
}
