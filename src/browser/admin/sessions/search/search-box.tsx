import { type KeyboardEvent, type SyntheticEvent, useId, useRef, useState } from 'react'
import { Icon } from '../../parts/icon.tsx'
import { useSettled } from '../../parts/use-settled.ts'
import { canSearch, hasDirectory, place } from '../../screen.ts'
import { countKey, useTexts } from '../../texts/use-texts.ts'
import { useKey } from '../use-key.ts'
import { FoundList } from './found-list.tsx'
import { noneFound } from './none-found.ts'
import { usePeopleSearch } from './use-people-search.ts'

/** How long after the last key a search starts. */
const PAUSE_MS = 200

// Only the list of people knows addresses.
const hint = !canSearch ? 'search_exact' : hasDirectory ? 'search_hint' : 'search_names'

/** Renders the field that finds a user: as the user types if the application can search, or else by the exact name. */
export function SearchBox({ text: initial = '' }: { text?: string }) {
  const t = useTexts()
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  useKey('/', () => field.current?.focus())
  const [text, setText] = useState(initial)
  const asked = useSettled(text, PAUSE_MS)
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const { data } = usePeopleSearch(isOpen ? asked : '')
  const groups = [
    { label: t('people'), people: data?.people ?? [] },
    { label: [t('ip'), data?.address?.place].filter(Boolean).join(' · '), people: data?.address?.people ?? [] },
  ]
  const people = groups.flatMap((group) => group.people)
  const isListed = isOpen && people.length > 0
  const isNone = isOpen && canSearch && asked === text && data !== undefined && people.length === 0

  function open(user: string): void {
    setOpen(false)
    if (user.trim() !== '') place.setQuery({ user: user.trim() })
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step && isListed) {
      event.preventDefault()
      // Between the last and the first person, no one is chosen.
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
    // An address names nobody, so its people stay listed until one is chosen.
    if (chosen || !isListed || !data?.address) open(chosen?.user.login ?? text)
  }

  return (
    <search className="search-box">
      <form onSubmit={submit}>
        <Icon name="search" />
        <input
          type="search"
          role="combobox"
          ref={field}
          aria-label={t('search')}
          aria-autocomplete="list"
          aria-expanded={isListed}
          aria-controls={`${id}-list`}
          aria-activedescendant={isListed && active >= 0 ? `${id}-${active}` : undefined}
          aria-keyshortcuts="/"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
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
      <FoundList id={id} groups={groups} active={isListed ? active : undefined} onOpen={open} />
      <p className="unseen" role="status">
        {isListed && t(countKey('people_found', people.length), { count: people.length })}
        {isNone && noneFound(t, text, data)}
      </p>
    </search>
  )
}
