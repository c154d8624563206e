import { Fragment } from 'react'

/** Draws an IP address, which breaks after a colon and never inside a group. */
export function IpAddress({ ip }: { ip: string }) {
  const groups = ip.split(':')
  return groups.map((group, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the groups of an address are never sorted.
    <Fragment key={index}>
      {group}
      {index < groups.length - 1 && (
        <>
          :<wbr />
        </>
      )}
    </Fragment>
  ))
}
