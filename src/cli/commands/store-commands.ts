import { Argument, Command } from 'commander'
import { type CacheRate, lastCacheRate } from '../../door/sessions/session-lives.ts'
import { messageOf } from '../../ground/errors.ts'
import { helpAt } from '../../ground/help.ts'
import { coreOf } from '../../service/service-core.ts'
import { requireTableName, SCHEMAS, type SchemaName, tableSchema } from '../../stores/document/table-schema.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { CliContext } from '../cli-context.ts'
import { CliError } from '../cli-error.ts'

const UNNAMED =
  'The configuration has no session store, so it is unknown whether its sessions can be tracked. Set it: sessmgr({ sessionStore }).'
const KEY = 'sessmgr_doctor'

/**
 * Returns the `sessmgr doctor` command, which checks the store, and shows whether each request has to call it, and why.
 */
export function doctorCommand({ limiter, print }: CliContext): Command {
  return new Command('doctor')
    .description('check the store, and show whether each request must query it')
    .action(async () => {
      const { store, sessionStore } = coreOf(await limiter()).options
      await useStore(store)
      print('The store can be read and written.')
      const report = (await store.report?.()) ?? []
      for (const line of report) if (typeof line === 'string') print(line)
      const reason = store.watch ? await store.watch.whyNot(sessionStore) : 'the store cannot report changes'
      if (reason === undefined) {
        print('Requests only read their session, because the store reports every change (tracking).')
      } else {
        print(`Each request asks the store whether its session is live (no tracking): ${reason}.`)
      }
      if (reason === undefined && !sessionStore) print(UNNAMED)
      const rate = await lastCacheRate(store.transients)
      if (rate) print(hitRate(rate, reason === undefined))
      const dangers = report.flatMap((line) => (typeof line === 'string' ? [] : line.danger))
      if (dangers.length > 0) throw new CliError(1, dangers.join('\n'))
    })
}

/** Below this share of hits, a larger cache or sticky sessions would save the store much work. */
const GOOD_RATE = 0.9
/** Below this share of hits, tracking costs Redis more than it saves, as measured for docs/production.md. */
const TRACKING_RATE = 0.15

/** Describes how often a process found sessions in its cache, with advice. */
function hitRate({ requests, hits, size, capacity }: CacheRate, isWatched: boolean): string {
  const share = hits / requests
  const numbers = `${Math.round(share * 100)} % of the last ${requests} signed-in requests to one process`
  const found = `${numbers} found their session among the ${size} it remembered (sessionCacheSize ${capacity}).`
  if (share >= GOOD_RATE) return found
  const cure = size < capacity ? 'Send each user to the same process' : 'Set a larger sessionCacheSize'
  const advice = `${found} ${cure} to query the store less.`
  if (!isWatched || share >= TRACKING_RATE) return advice
  return `${advice} If many processes serve each user, set redisStore({ tracking: false }) instead.`
}

/** Writes and reads once, because a database account may be allowed to do only one of them. */
async function useStore({ transients }: SessmgrStore): Promise<void> {
  try {
    await transients.set(KEY, 'written', 1000)
    await transients.get(KEY)
  } catch (error) {
    const { cause } = error as { cause?: unknown }
    const because = cause === undefined ? '' : `\nCaused by: ${messageOf(cause)}`
    throw new CliError(1, `${messageOf(error)}${because}\nSee ${helpAt('store_unavailable')}`)
  }
}

/**
 * Returns the `sessmgr schema` command, which prints the SQL that creates the table of a database store. It needs no
 * configuration.
 */
export function schemaCommand({ print }: CliContext): Command {
  return new Command('schema')
    .description("print the SQL that creates sessmgr's table in a database")
    .addArgument(new Argument('<database>', 'kind of database').choices(SCHEMAS))
    .option('--table <name>', 'table name', 'sessmgr')
    .action((database: SchemaName, { table }: { table: string }) => {
      requireTableName(table)
      for (const statement of tableSchema(database, table)) print(`${statement};`)
    })
}

/** Returns the `sessmgr uninstall` command. */
export function uninstallCommand({ limiterToChange, confirm, print }: CliContext): Command {
  return new Command('uninstall')
    .description('remove all sessmgr data; users stay signed in')
    .option('--yes', 'do not ask')
    .action(async ({ yes }: { yes?: boolean }) => {
      const limiter = await limiterToChange()
      await confirm('Remove all sessmgr settings, application passwords and session records?', yes)
      await limiter.uninstall()
      print(
        'Removed. Users stay signed in. If the application still uses sessmgr, it will register their sessions again.',
      )
    })
}
