import { Fragment } from 'react'

/** Renders an IP address. Long addresses wrap only after a colon. */
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
