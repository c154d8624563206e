import { Toast } from 'radix-ui'
import { type ReactNode, useSyncExternalStore } from 'react'
import { Icon } from '../parts/icon.tsx'
import { toasts } from '../screen.ts'
import { direction } from '../texts/locale.ts'
import { useTexts } from '../texts/use-texts.ts'

/** Renders the toasts over the screen. Errors stay longer. */
export function Toasts({ children }: { children: ReactNode }) {
  const t = useTexts()
  const all = useSyncExternalStore(toasts.subscribe, toasts.all)
  return (
    <Toast.Provider label={t('notification')} swipeDirection={direction === 'rtl' ? 'left' : 'right'}>
      {children}
      {all.map(({ id, text, tone, count }) => (
        <Toast.Root
          key={id}
          className={`toast ${tone}`}
          type={tone === 'error' ? 'foreground' : 'background'}
          duration={tone === 'error' ? 12_000 : 6_000}
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
      <Toast.Viewport className="toasts" label={t('notifications')} />
    </Toast.Provider>
  )
}
