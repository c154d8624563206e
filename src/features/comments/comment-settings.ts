import { withDeadline } from '../../ground/deadline.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { OptionChange } from '../../options/option-change.ts'
import type { OptionStore } from '../../options/option-store.ts'
import { createSiteOption } from '../../options/site-option.ts'
import { COMMENTS_OPTION, type CommentSettings, type CommentSettingsService } from './lazy-comments.ts'

/** The defaults before any filter is applied. */
export const COMMENT_DEFAULTS: CommentSettings = {
  load_method: 'scroll',
  button_text: 'Load Comments',
  button_style: 'theme',
  button_class: '',
  show_loader: true,
  minimum_count: 1,
  disable_for_bots: true,
  cache_enabled: true,
}

const oneOf = (values: readonly string[], fallback: string) => (value: unknown) =>
  values.includes(value as string) ? value : fallback

const boolean = (fallback: boolean) => (value: unknown) => {
  if ([true, 1, '1', 'true'].includes(value as string)) return true
  if ([false, 0, '0', 'false'].includes(value as string)) return false
  return fallback
}

/** Returns a sanitizer for each setting. A value that cannot be repaired becomes the current one or the default. */
function cleaners(current: CommentSettings): { [K in keyof CommentSettings]: (value: unknown) => unknown } {
  return {
    load_method: oneOf(['scroll', 'idle', 'click', 'off'], COMMENT_DEFAULTS.load_method),
    button_text: (value) => plainText(value) || COMMENT_DEFAULTS.button_text,
    button_style: oneOf(['theme', 'custom'], COMMENT_DEFAULTS.button_style),
    button_class: classNames,
    show_loader: boolean(current.show_loader),
    minimum_count: (value) => Math.min(Number.MAX_SAFE_INTEGER, Math.max(1, Math.trunc(Number(value)) || 1)),
    disable_for_bots: boolean(current.disable_for_bots),
    cache_enabled: boolean(current.cache_enabled),
  }
}

const LONGEST_TEXT = 200

function plainText(value: unknown): string {
  if (typeof value !== 'string') return ''
  // Repeated, because removing one tag can create another. The string is short, so the loop ends soon.
  let text = value.slice(0, LONGEST_TEXT)
  for (let before = ''; before !== text; ) {
    before = text
    text = text.replaceAll(/<[^<>]*>/g, '')
  }
  return text.replaceAll(/\s+/g, ' ').trim()
}

function classNames(value: unknown): string {
  if (typeof value !== 'string') return ''
  const names = value
    .slice(0, LONGEST_TEXT)
    .split(/\s+/)
    .map((name) => name.replaceAll(/[^\w-]/g, ''))
  return names.filter((name) => name !== '').join(' ')
}

function sanitize(value: unknown, current: CommentSettings): CommentSettings {
  const given = Object.assign(Object.create(null), value) as Record<string, unknown>
  const clean = Object.entries(cleaners(current)).map(([key, repair]) => [
    key,
    given[key] === undefined ? current[key as keyof CommentSettings] : repair(given[key]),
  ])
  return Object.fromEntries(clean) as CommentSettings
}

/** Creates the settings service on top of an option store. */
export function createCommentSettings(
  options: OptionStore,
  hooks: Hooks,
  noteChange?: (change: OptionChange) => void,
): CommentSettingsService {
  const option = createSiteOption<CommentSettings>({
    name: COMMENTS_OPTION,
    rest: true,
    store: options,
    hooks,
    noteChange,
    async defaults() {
      const defaults = await hooks.applyFilters('lazycomments_default_settings', { ...COMMENT_DEFAULTS })
      return Object.freeze(sanitize(defaults, COMMENT_DEFAULTS))
    },
    build: (defaults, stored) => Object.freeze(sanitize(stored, defaults)),
    sanitize,
  })

  async function update(values: Readonly<Record<string, unknown>>): Promise<boolean> {
    const before = await option.get()
    const after = await option.update(values)
    return Object.keys(COMMENT_DEFAULTS).some(
      (key) => before[key as keyof CommentSettings] !== after[key as keyof CommentSettings],
    )
  }

  return {
    option,
    async get(key, fallback) {
      const all = await option.get()
      return Object.hasOwn(all, key) ? all[key as keyof CommentSettings] : fallback
    },
    all: option.get,
    set: (key, value) => update({ [key]: value }),
    update,
    reset: (key) => option.reset(key),
  }
}

/**
 * Returns a function that reads the settings for page views.
 *
 * While the store is down, the function returns the last known settings, or else the defaults.
 *
 * @param patienceMs Milliseconds after which the store counts as down.
 */
export function knownSettings(settings: CommentSettingsService, patienceMs: number): () => Promise<CommentSettings> {
  let known = COMMENT_DEFAULTS
  const tooSlow = () => new SessmgrError('store_unavailable', 'The lazy comments settings cannot be read right now.')

  return async () => {
    try {
      known = await withDeadline(settings.all(), patienceMs, tooSlow)
    } catch (error) {
      // A failing filter is a bug in the application and must not be hidden.
      if (!(error instanceof SessmgrError && error.code === 'store_unavailable')) throw error
    }
    return known
  }
}
