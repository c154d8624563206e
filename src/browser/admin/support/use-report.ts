import { useQuery } from '@tanstack/react-query'
import { useContext } from 'react'
import { rest, vars } from '../screen.ts'
import { ScreenTabs } from '../shell/entries.ts'

/** What the server knows about itself. Null means unknown. */
interface ServerReport {
  readonly version: string
  readonly node: string
  readonly platform: string
  readonly store: string
  readonly shared: boolean
  readonly directory: boolean
  readonly audit: boolean
  readonly settings: Readonly<Record<string, unknown>> | null
  readonly addons: readonly { readonly id: number; readonly licensed: boolean }[] | null
  readonly people: number | null
  readonly sessions: number | null
}

const UNKNOWN = 'unknown'

/** Returns the report for a support request. It is in English, for all readers. */
export function useReport(): string {
  const tabs = useContext(ScreenTabs)
  const { data, error } = useQuery({
    queryKey: ['support'],
    queryFn: async () => (await rest.requestObject<ServerReport>('GET', 'sessmgr/v1/support')).body,
  })
  return [
    `${vars.name} ${vars.version} (${vars.slug})`,
    ...(data ? serverLines(data) : [`Server: ${error ? `no report (${error.message || 'no answer'})` : '…'}`]),
    `REST: ${vars.restUrl}`,
    `Sections: ${tabs.map(({ key }) => key).join(', ')}`,
    `Logics: ${Object.keys(vars.logics).join(', ')}`,
    `Browser: ${navigator.userAgent}`,
    `Language: ${navigator.language}`,
  ].join('\n')
}

function serverLines(server: ServerReport): readonly string[] {
  const { settings, addons, people, sessions } = server
  const values = settings && Object.entries(settings).map(([key, value]) => `${key} ${value}`)
  const installed = addons?.map(({ id, licensed }) => `${id} (${licensed ? 'licensed' : 'not licensed'})`)
  return [
    // A process that was not restarted after an update is behind its files.
    ...(server.version === vars.version ? [] : [`Server: ${server.version}`]),
    `Node.js: ${server.node}`,
    `System: ${server.platform}`,
    `Store: ${server.store}${server.shared ? '' : ' (of one process)'}`,
    `Settings: ${values?.join(', ') ?? UNKNOWN}`,
    `Add-ons: ${installed ? installed.join(', ') || 'none' : UNKNOWN}`,
    `Options: directory ${onOff(server.directory)}, audit ${onOff(server.audit)}`,
    `Signed in: ${people ?? UNKNOWN} people, ${sessions ?? UNKNOWN} sessions`,
  ]
}

function onOff(isOn: boolean): string {
  return isOn ? 'on' : 'off'
}
