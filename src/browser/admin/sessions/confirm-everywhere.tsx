import { Confirm } from '../parts/feedback/confirm.tsx'
import { countKey, useTexts } from '../texts/use-texts.ts'
import { nameOf, type UserSessions } from './use-sessions.ts'

/**
 * Asks for confirmation before a user is signed out everywhere. Shows how many sessions would end, and whether one of
 * them is the user's own.
 */
export function ConfirmEverywhere({
  found,
  onConfirm,
  onClose,
}: {
  /** The sessions that would end; undefined while the dialog is closed. */
  found: UserSessions | undefined
  onConfirm: () => void
  onClose: () => void
}) {
  const t = useTexts()
  if (!found) return null
  const name = nameOf(found.user)
  const count = found.sessions.length
  const isOwn = found.sessions.some(({ current }) => current)
  return (
    <Confirm
      open
      title={t('end_all_title', { name })}
      action={t(countKey('end_all_action', count), { count })}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>{t(countKey('end_all_text', count), { count, name })}</p>
      {isOwn && (
        <p>
          <strong>{t(countKey('end_all_own', count))}</strong>
        </p>
      )}
    </Confirm>
  )
}
