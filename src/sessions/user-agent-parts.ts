import { BoundedMap } from '../ground/bounded-map.ts'

/** Models whose name is shown instead of the system's. */
const MODELS: readonly unknown[] = ['iPhone', 'iPad']

const LONGEST = 512

/** A parsed user agent. Names come from fixed lists, so no part of the user agent itself is among them. */
export interface UserAgentParts {
  readonly browser: string | undefined
  /** Major version of the browser. */
  readonly version: string | undefined
  readonly system: string | undefined
  /** Type of the device: desktop, mobile, tablet, tv or bot. */
  readonly type: string | undefined
  /** Whether this is a program that does not claim to be a browser. */
  readonly isProgram: boolean
}

/** Most logins come from the same few user agents, and parsing one takes as long as the rest of a login. */
const known = new BoundedMap<string, UserAgentParts>(500)

/** Parses a user agent. */
export async function userAgentParts(userAgent: string): Promise<UserAgentParts> {
  const text = userAgent.slice(0, LONGEST)
  return known.get(text) ?? takeApart(text)
}

async function takeApart(userAgent: string): Promise<UserAgentParts> {
  // Loaded on demand, because it is large and few requests need it.
  const { default: Bowser } = await import('bowser')
  const { browser, os, platform } = Bowser.parse(userAgent)
  const listed = (list: Readonly<Record<string, string>>, name: string | undefined) =>
    name !== undefined && Object.values(list).includes(name) ? name : undefined
  const model = MODELS.includes(platform.model) ? platform.model : undefined
  const [name, system] = [listed(Bowser.BROWSER_MAP, browser.name), model ?? listed(Bowser.OS_MAP, os.name)]
  const parts = {
    browser: name,
    version: /^\d{1,6}/.exec(browser.version ?? '')?.[0],
    system,
    type: platform.type,
    // All browsers have started this way for thirty years.
    isProgram: !name && !system && !/^(Mozilla|Opera)\//.test(userAgent),
  }
  known.set(userAgent, parts)
  return parts
}
