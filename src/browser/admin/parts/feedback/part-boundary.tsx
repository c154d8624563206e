import { Component, type ReactNode, Suspense } from 'react'
import { reasonOf } from '../../hooks/screen-hooks.ts'
import { useTexts } from '../../texts/use-texts.ts'
import { Button } from '../button.tsx'
import { Notice } from './notice.tsx'
import { Skeleton } from './skeleton.tsx'

/** Keeps the rest of the screen working while a part loads. If the part fails, shows its name. */
export class PartBoundary extends Component<{ name: string; children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {}

  static getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error() }
  }

  override render() {
    const { name, children } = this.props
    if (this.state.error === undefined) return <Suspense fallback={<Skeleton panels={1} />}>{children}</Suspense>
    return <Broken name={name} error={this.state.error} retry={() => this.setState({ error: undefined })} />
  }
}

function Broken({ name, error, retry }: { name: string; error: unknown; retry: () => void }) {
  const t = useTexts()
  return (
    <Notice
      tone="error"
      title={t('broken_part', { name })}
      actions={
        <Button icon="refresh" onClick={retry}>
          {t('retry')}
        </Button>
      }
    >
      {t('broken_part_help')} <code>{reasonOf(error)}</code>
    </Notice>
  )
}
