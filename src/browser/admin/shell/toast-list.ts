import { createSignal } from './signal.ts'

/** A short message at the edge of the screen. */
export interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: 'good' | 'error'
  /** How many times the message was shown while it was visible. */
  readonly count: number
}

const MOST = 3

/** Creates an empty list. Only the latest toasts are kept. While `isSilent` returns true, no toast is added. */
export function createToasts(isSilent: () => boolean) {
  const { value: all, become, subscribe } = createSignal<readonly Toast[]>([])
  let lastId = 0
  return {
    all,
    /** Shows a toast. A success removes errors, which otherwise stay until they are dismissed. */
    show(text: string, tone: Toast['tone'] = 'good'): void {
      if (isSilent()) return
      lastId += 1
      // Count a repeated message instead of showing a second toast.
      const same = all().find((toast) => toast.text === text)
      // A success makes earlier failures obsolete.
      const others = all().filter((toast) => toast !== same && (tone === 'error' || toast.tone === 'good'))
      become([...others, { id: lastId, text, tone, count: (same?.count ?? 0) + 1 }].slice(-MOST))
    },
    clear: () => become([]),
    remove: (id: number) => become(all().filter((toast) => toast.id !== id)),
    subscribe,
  }
}
