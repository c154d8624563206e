import { OPTIONS_PATH } from '../../../features/admin/screen-tabs.ts'
import { OPTIONS_QUERY, queries, rest, storedOptions } from '../screen.ts'
import { nameOf } from '../sessions/use-sessions.ts'
import { locale } from '../texts/locale.ts'
import type { Translate } from '../texts/use-texts.ts'
import { type Edits, isRecord, isSame, type Refusal, type SiteOptions } from './option-draft.ts'
import { nameOfKey, nameOfValue } from './option-words.ts'
import { changesIn, type LoggedChange, settingsLogQuery } from './use-options.ts'

/**
 * Shows the newest options below the edits, so that saving again overwrites them, and says who changed them. Resolves to
 * undefined if they were changed back in the meantime.
 */
export async function meetConflict(t: Translate, edits: Edits): Promise<Refusal | undefined> {
  const newest = await rest.requestObject<SiteOptions>('GET', OPTIONS_PATH)
  const changes = optionChanges(storedOptions().body, newest.body, edits)
  const logQuery = settingsLogQuery(newest.body)
  await queries.load(logQuery)
  queries.set(OPTIONS_QUERY, newest)
  if (changes.length === 0) return undefined
  return {
    reason: sayWhoChanged(t, changes, changesIn(queries.get(logQuery)?.body)),
    problems: {},
    conflict: changes.map(({ option, key }) => [option, key].filter(Boolean).join('.')),
  }
}

/** A value that another user has changed. `key` is an empty string for a whole option. */
interface OptionChange {
  readonly option: string
  readonly key: string
  readonly value: unknown
}

/** Lists the values that differ between two reads of the options, first those that the user has edited too. */
function optionChanges(before: SiteOptions, after: SiteOptions, edits: Edits): readonly OptionChange[] {
  return Object.keys({ ...edits, ...before }).flatMap((option) => {
    const [old, now, own] = [keysOf(before[option]), keysOf(after[option]), keysOf(edits[option])]
    return Object.keys({ ...own, ...now })
      .filter((key) => !isSame(old[key], now[key]))
      .map((key) => ({ option, key, value: now[key] }))
  })
}

function keysOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : { '': value }
}

/** How many changed values a sentence names. */
const NAMED = 3

/** Says who changed which values, in one sentence. */
function sayWhoChanged(t: Translate, changes: readonly OptionChange[], log: readonly LoggedChange[]): string {
  const names = new Set(changes.map((change) => whoChanged(change, log)))
  const [name] = names.size === 1 ? names : []
  const parts = changes
    .slice(0, NAMED)
    .map(({ option, key, value }) =>
      t('conflict_value', { name: nameOfKey(t, option, key), value: nameOfValue(t, option, key, value) }),
    )
  if (changes.length > NAMED) parts.push(t('conflict_more', { count: changes.length - NAMED }))
  return t('conflict', { name: name ?? t('somebody'), changes: new Intl.ListFormat(locale).format(parts) })
}

/** Names the user who made a change, or returns undefined if the log does not know. */
function whoChanged({ option, key, value }: OptionChange, log: readonly LoggedChange[]): string | undefined {
  const last = log.find(({ details }) => details?.option === option && (details.key ?? '') === key)
  // The log may lack the last change, so a different value was set by somebody else.
  return last?.actor && isSame(last.details?.to, value) ? nameOf(last.actor) : undefined
}
