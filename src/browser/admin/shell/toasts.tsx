import { type RefObject, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Icon } from '../parts/icon.tsx'
import { toasts } from '../screen.ts'
import { useTexts } from '../texts/use-texts.ts'
import type { Toast } from './toast-list.ts'

const SHOWN_MS = 6_000

/** Renders the toasts over the screen. Errors stay until they are dismissed or something succeeds. */
export function Toasts() {
  const t = useTexts()
  const all = useSyncExternalStore(toasts.subscribe, toasts.all)
  const list = useRef<HTMLElement>(null)
  const newest = all.at(-1)?.id
  const isUp = useIsUp(list, newest)
  useEffect(() => {
    // Without a toast, do not show the list, because that makes the browser lay out the page.
    if (newest === undefined) return
    // Showing it again puts it on top of everything, even a dialog.
    if (document.querySelector('dialog:modal')) list.current?.hidePopover()
    list.current?.showPopover()
  }, [newest])
  return (
    <section
      ref={list}
      className={isUp ? 'toasts up' : 'toasts'}
      aria-label={t('notifications')}
      aria-live="polite"
      popover="manual"
    >
      {all.map((toast) => (
        <ToastLine key={toast.id} toast={toast} />
      ))}
    </section>
  )
}

function ToastLine({ toast: { id, text, tone, count } }: { toast: Toast }) {
  const t = useTexts()
  const [isHeld, setHeld] = useState(false)
  const stays = isHeld || tone === 'error'
  useEffect(() => {
    if (stays) return
    const timer = setTimeout(() => toasts.remove(id), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [id, stays])
  const hold = () => setHeld(true)
  const release = () => setHeld(false)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer and the focus only keep the toast visible.
    <div
      className={`toast ${tone}`}
      role={tone === 'error' ? 'alert' : undefined}
      onMouseEnter={hold}
      onMouseLeave={release}
      onFocus={hold}
      onBlur={release}
    >
      <Icon name={tone === 'error' ? 'alert' : 'check'} />
      <p className="toast-text">
        {text}
        {count > 1 && <span className="badge">{t('times', { count })}</span>}
      </p>
      <button type="button" className="toast-close" aria-label={t('dismiss')} onClick={() => toasts.remove(id)}>
        <Icon name="close" />
      </button>
    </div>
  )
}

/** Checks whether toasts belong at the top, because at the bottom they would cover the control in use. */
function useIsUp(list: RefObject<HTMLElement | null>, newest: number | undefined): boolean {
  const [isUp, setUp] = useState(false)
  useLayoutEffect(() => {
    if (newest === undefined) return
    const move = () => {
      const { activeElement } = document
      if (list.current?.contains(activeElement)) return
      const control = activeElement?.closest('#content *, .dialog *')?.getBoundingClientRect()
      const room = list.current?.offsetHeight ?? 0
      setUp(control !== undefined && control.bottom > window.innerHeight - room && control.top < window.innerHeight)
    }
    move()
    document.addEventListener('focusin', move)
    return () => document.removeEventListener('focusin', move)
  }, [list, newest])
  return isUp
}
