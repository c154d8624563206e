import { Toast } from 'radix-ui'
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Icon } from '../parts/icon.tsx'
import { toasts } from '../screen.ts'
import { direction } from '../texts/locale.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Renders the toasts over the screen. Errors stay until they are dismissed or something succeeds. */
export function Toasts({ children }: { children: ReactNode }) {
  const t = useTexts()
  const all = useSyncExternalStore(toasts.subscribe, toasts.all)
  const list = useRef<HTMLOListElement>(null)
  const isUp = useIsUp(list, all.at(-1)?.id)
  return (
    <Toast.Provider label={t('notification')} swipeDirection={direction === 'rtl' ? 'left' : 'right'}>
      {children}
      {all.map(({ id, text, tone, count }) => (
        <Toast.Root
          key={id}
          className={`toast ${tone}`}
          type={tone === 'error' ? 'foreground' : 'background'}
          duration={tone === 'error' ? Number.POSITIVE_INFINITY : 6_000}
          onOpenChange={(open) => open || toasts.remove(id)}
        >
          <Icon name={tone === 'error' ? 'alert' : 'check'} />
          <Toast.Description className="toast-text">
            {text}
            {count > 1 && <span className="badge">{t('times', { count })}</span>}
          </Toast.Description>
          <Toast.Close className="toast-close" aria-label={t('dismiss')}>
            <Icon name="close" />
          </Toast.Close>
        </Toast.Root>
      ))}
      <Toast.Viewport ref={list} className={isUp ? 'toasts up' : 'toasts'} label={t('notifications')} />
    </Toast.Provider>
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
