import { Confirm } from '../../parts/feedback/confirm.tsx'
import { countKey, useTexts } from '../../texts/use-texts.ts'
import type { Session } from '../use-sessions.ts'

/** How many devices a question names. */
const NAMED = 3

/** Asks for confirmation before chosen sessions of a user end. */
export function ConfirmEnding({
  sessions,
  name,
  onConfirm,
  onClose,
}: {
  /** The sessions that would end; undefined while the dialog is closed. */
  sessions: readonly Session[] | undefined
  name: string
  onConfirm: (sessions: readonly Session[]) => void
  onClose: () => void
}) {
  const t = useTexts()
  const [first] = sessions ?? []
  if (!sessions || !first) return null
  const count = sessions.length
  const devices = sessions.map(({ device }) => device.name ?? t('device_unknown'))
  const isOwn = sessions.some(({ current }) => current)
  const title = count === 1 && isOwn ? t('end_own_title') : t(countKey('end_several_title', count), { count, name })
  return (
    <Confirm
      open
      title={title}
      action={t(countKey('end_all_action', count), { count })}
      onConfirm={() => onConfirm(sessions)}
      onClose={onClose}
    >
      <p>{t(count === 1 && isOwn ? 'end_own_text' : 'end_several_text', { name })}</p>
      {count <= NAMED && (count > 1 || !isOwn) && <p>{devices.join(', ')}</p>}
      {count > 1 && isOwn && (
        <p>
          <strong>{t('end_several_own')}</strong>
        </p>
      )}
    </Confirm>
  )
}
