import { type KeyboardEvent, type SyntheticEvent, useEffect, useId, useState } from 'react'
import { Empty, Pending } from '../parts/feedback.tsx'
import { EXACT } from '../parts/fields.tsx'
import { Icon } from '../parts/icon.tsx'
import { PlaceLink } from '../parts/links.tsx'
import type { Query } from '../rest/queries.ts'
import { useFailureText, useQuery, useSettled } from '../rest/use-rest.ts'
import { canSearch, hasDirectory, place } from '../screen.ts'
import { countKey, type Translate, useTexts } from '../texts/use-texts.ts'
import { useSearchField } from './keyboard.tsx'
import type { SignedInPerson } from './people/use-people.ts'
import { nameOf, type Person, SESSIONS } from './use-sessions.ts'

/** How long after the last key press a search starts. */
const PAUSE_MS = 200

// Only the list of people can be searched by IP address.
const hint = !canSearch ? 'search_exact' : hasDirectory ? 'search_hint' : 'search_names'

interface SearchBoxProps {
  text?: string
  /** Whether an IP address is opened like a name. Otherwise, the people signed in from it are listed. */
  takesAddresses?: boolean
  /** Called with a login name, or with the text as typed. By default, opens the person. */
  onOpen?: (text: string) => void
}

/** Renders the field that finds a user: as the user types if the application can search, or else by the exact name. */
export function SearchBox({ text: initial = '', takesAddresses = false, onOpen = openPerson }: SearchBoxProps) {
  const t = useTexts()
  const id = useId()
  const field = useSearchField()
  const [text, setText] = useState(initial)
  useEffect(() => setText(initial), [initial])
  const asked = useSettled(text, PAUSE_MS)
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const { data, failure } = usePeopleSearch(isOpen ? asked : '')
  const groups = [
    { label: t('people'), people: data?.people ?? [] },
    { label: [t('ip'), data?.address?.place].filter(Boolean).join(' · '), people: data?.address?.people ?? [] },
  ]
  const people = groups.flatMap((group) => group.people)
  const isListed = isOpen && people.length > 0
  const isMore = groups.some((group) => group.people.length >= MOST_FOUND)
  const isNone = isOpen && canSearch && asked === text && data !== undefined && people.length === 0

  function open(user: string): void {
    setOpen(false)
    onOpen(user.trim())
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step && isListed) {
      event.preventDefault()
      // Between the last person and the first, the arrow keys choose no one.
      setActive(((active + 1 + step + people.length + 1) % (people.length + 1)) - 1)
    } else if (event.key === 'Escape' && isOpen) {
      event.preventDefault()
      setOpen(false)
    }
  }

  function submit(event: SyntheticEvent): void {
    event.preventDefault()
    const chosen =
      isListed && asked === text ? (people[active] ?? (people.length === 1 ? people[0] : undefined)) : undefined
    // An IP address is not a user, so the people signed in from it stay listed until one is chosen.
    if (chosen || !isListed || !data?.address || takesAddresses) open(chosen?.user.login ?? text)
  }

  return (
    <search className="search-box">
      <form onSubmit={submit}>
        <Icon name="search" />
        <input
          type="search"
          role="combobox"
          ref={field}
          data-place="search"
          aria-label={t('search')}
          aria-autocomplete="list"
          aria-expanded={isListed}
          aria-controls={`${id}-list`}
          aria-activedescendant={isListed && active >= 0 ? `${id}-${active}` : undefined}
          aria-keyshortcuts="/"
          {...EXACT}
          enterKeyHint="search"
          placeholder={t(hint)}
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            setActive(-1)
            setOpen(true)
          }}
          onKeyDown={onKeyDown}
          onBlur={() => setOpen(false)}
        />
      </form>
      <FoundList id={id} groups={groups} active={isListed ? active : undefined} isMore={isMore} onOpen={open} />
      <p className={isNone || failure ? 'search-list search-none' : 'unseen'} role="status">
        {isListed && wordsOn(people.length, isMore, t)}
        {isNone ? noneFound(t, text, data) : failure}
      </p>
    </search>
  )
}

function openPerson(user: string): void {
  if (user !== '') place.setQuery({ user })
}

/** Renders the field that filters the rows of a list by words. */
export function Filter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = useTexts()
  const text = t('filter_sessions')
  return (
    <search className="search-box">
      <Icon name="search" />
      <input
        type="search"
        aria-label={text}
        placeholder={text}
        value={value}
        {...EXACT}
        onChange={({ target }) => onChange(target.value)}
      />
    </search>
  )
}

/** Renders the users who were found, below the search field. */
function FoundList({
  id,
  groups,
  active,
  isMore,
  onOpen,
}: {
  id: string
  groups: readonly { readonly label: string; readonly people: readonly FoundPerson[] }[]
  /** Index of the chosen user across all groups, -1 for none; undefined hides the list. */
  active: number | undefined
  /** Whether there may be others. */
  isMore: boolean
  onOpen: (login: string) => void
}) {
  const t = useTexts()
  let index = -1
  return (
    <div
      className="search-list"
      id={`${id}-list`}
      role="listbox"
      tabIndex={-1}
      aria-label={t('search')}
      hidden={active === undefined}
    >
      {groups.map(({ label, people }) => {
        if (people.length === 0) return null
        return (
          // biome-ignore lint/a11y/useSemanticElements: a fieldset must not be in a listbox.
          <div key={label} role="group" aria-label={label}>
            <p aria-hidden="true">{label}</p>
            {people.map(({ user, live }) => {
              index += 1
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the search field has the focus and handles the keys.
                <div
                  key={user.login}
                  id={`${id}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === active}
                  // Otherwise, a press would take the focus from the field and close the list.
                  onPointerDown={(event) => event.preventDefault()}
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => onOpen(user.login)}
                >
                  <bdi>{nameOf(user)}</bdi>
                  <span className="help">
                    <bdi>{user.login}</bdi> · {t(countKey('live', live), { count: live })}
                  </span>
                </div>
              )
            })}
          </div>
        )
      })}
      {isMore && <p aria-hidden="true">{t('people_more', { count: MOST_FOUND })}</p>}
    </div>
  )
}

function wordsOn(count: number, isMore: boolean, t: Translate): string {
  return isMore ? t('people_more', { count: MOST_FOUND }) : t(countKey('people_found', count), { count })
}

/**
 * Returns the text that says that nobody has this name or, for an IP address, whether anyone is signed in from there.
 *
 * @param found The result of the search for this text, if there was a search.
 */
function noneFound(t: Translate, text: string, found: SearchResult | undefined): string {
  const { address } = found ?? {}
  if (!address) return t(found?.people.some(({ user }) => isCalled(user, text)) ? 'called' : 'nobody_called', { text })
  if (address.people.length > 0) return t('signed_in_from', { ip: address.ip })
  return t(address.exact ? 'nobody_from' : 'nobody_from_lately', { ip: address.ip })
}

const isCalled = (user: Person, text: string) => nameOf(user).toLowerCase() === text.trim().toLowerCase()

/**
 * Explains that no user was found, and links to users with this name or a similar one.
 *
 * @param tab The tab that the links open.
 * @param query The query of a link besides the user.
 */
export function UnknownUser({
  text,
  tab = 'sessions',
  query,
}: {
  text: string
  tab?: 'sessions' | 'activity'
  query?: Readonly<Record<string, string>>
}) {
  const t = useTexts()
  const found = usePeopleSearch(text)
  const { data } = found
  if (!data) return <Pending of={found} />
  const there = data.address?.people ?? []
  const similar = data.people
  const called = similar.filter(({ user }) => isCalled(user, text))
  const people = [there, called, similar].find(({ length }) => length > 0) ?? []
  return (
    <Empty icon="search" title={<span role="alert">{noneFound(t, text, data)}</span>}>
      {people.length === 0 && !data.address && t('try_email')}
      {people === similar && people.length > 0 && `${t('closest')} `}
      {people.map(({ user }, index) => (
        <span key={String(user.id)}>
          {index > 0 && ', '}
          <PlaceLink tab={tab} query={{ ...query, user: user.login }}>
            <bdi>{nameOf(user)}</bdi>
          </PlaceLink>
          {people === called && <bdi> ({user.login})</bdi>}
        </span>
      ))}
    </Empty>
  )
}

/** How many people a search finds at most. */
const MOST_FOUND = 8
/** How many characters the server searches for at most. */
const LONGEST = 200

/** A user who was found, and how many sessions they have. */
type FoundPerson = Pick<SignedInPerson, 'user' | 'live'>

/** What a search has found. */
interface SearchResult {
  readonly people: readonly FoundPerson[]
  /** The people who are signed in from the IP address that was searched for. */
  readonly address?: {
    readonly ip: string
    readonly place: string | null
    readonly people: readonly FoundPerson[]
    /** Whether the list is complete. */
    readonly exact: boolean
  }
}

/** Searches for users by part of their name, or says why it could not. */
function usePeopleSearch(text: string) {
  const textOf = useFailureText()
  const q = text.trim().slice(0, LONGEST)
  const query: Query<SearchResult> = {
    key: [SESSIONS, 'search', q],
    path: () => `sessmgr/v1/people/search?${new URLSearchParams({ q })}`,
    freshMs: 30_000,
  }
  const found = useQuery(query, { isNeeded: q !== '' })
  return { ...found, failure: found.error && !found.data && textOf(found.error, 'load_failed') }
}

/** A user who was looked up. */
type LookUp = Readonly<Record<'login' | 'name', string>>

const KEY = 'sessmgr.looked-up'
const MOST = 5

/** Returns the users recently looked up in this browser tab, latest first. */
export function lookUps(): readonly LookUp[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept : []
  } catch {
    // The browser may refuse storage.
    return []
  }
}

/** Remembers a user who was looked up. */
export function rememberLookUp(user: LookUp): void {
  const others = lookUps().filter(({ login }) => login !== user.login)
  try {
    sessionStorage.setItem(KEY, JSON.stringify([user, ...others].slice(0, MOST)))
  } catch {}
}
