/** Renders the first letters of a name in a circle, where a picture could be. */
export function Initials({
  name,
}: {
  /** Name in any script. */
  name: string
}) {
  const words = name.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu) ?? []
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words
  const letters = ends.map((word) => word?.match(/^./u)?.[0] ?? '').join('')
  return (
    <span className="initials" aria-hidden="true">
      {letters.toUpperCase()}
    </span>
  )
}
