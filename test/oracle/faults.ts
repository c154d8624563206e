import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bundleRules, CACHE, type Edit } from './replay/bundle.ts'
import type { Difference } from './replay/compare.ts'
import { runTasks } from './replay/pool.ts'
import { readHashes, recordedRules } from './replay/recording.ts'
import { reportOf } from './replay/report.ts'

/** A fault in today's rules, and how a difference names it. */
interface Fault extends Edit {
  readonly rule: string
  /** What goes wrong. */
  readonly says: string
  /** Command and parts of a difference that names the fault. */
  readonly named: RegExp
}

/** Ten faults. After a rebuild, each is moved to the code that has the rule then. */
const FAULTS: readonly Fault[] = [
  {
    rule: 'modes',
    says: 'One session too few ends.',
    file: 'src/strategies/slots.ts',
    text: 'Math.max(1, sessions.length - maximum + 1)',
    replacement: 'Math.max(1, sessions.length - maximum)',
    named: /^(login|choose|explain): .*(outcome|kinds)/,
  },
  {
    rule: 'order',
    says: 'A new session counts as the oldest.',
    file: 'src/stores/document/user-document.ts',
    text: 'left.push(admitted)',
    replacement: 'left.unshift(admitted)',
    named: /^(login|choose|adopt): .*live/,
  },
  {
    rule: 'epoch',
    says: 'A site-wide logout ends no session from after an earlier one.',
    file: 'src/sessions/session-record.ts',
    text: 'generation >= epoch.generation ||',
    replacement: 'generation > 0 || generation >= epoch.generation ||',
    named: /^(log all out|request|old request|adopt|adopt again|refresh): .*(outcome|live)/,
  },
  {
    rule: 'adoption',
    says: 'A session is adopted although all sessions of its user were ended.',
    file: 'src/stores/document/user-document.ts',
    text: 'known || document.mark > 0 || hasEnded(document, token)',
    replacement: 'known || hasEnded(document, token)',
    named: /^adopt(?: again)?: .*outcome/,
  },
  {
    rule: 'rotation',
    says: 'A refresh token that is used again after the grace period counts as repeated.',
    file: 'src/stores/document/user-document.ts',
    text: 'presented >= first && now - began < graceMs',
    replacement: 'presented >= first',
    named: /^refresh: .*outcome/,
  },
  {
    rule: 'idle',
    says: 'The use of a session is not recorded.',
    file: 'src/stores/document/user-document.ts',
    text: 'withRecord(document, place, { lastSeenAt, expiresAt })',
    replacement: 'withRecord(document, place, { expiresAt })',
    named: /^(login|choose|explain): .*(outcome|kinds)/,
  },
  {
    rule: 'labels',
    says: 'A session with any label counts toward the limit of each.',
    file: 'src/limiter/decision/label-group.ts',
    text: 'others[index] === label',
    replacement: 'others[index] !== undefined',
    named: /^(login|choose|explain): .*(outcome|kinds)/,
  },
  {
    rule: 'erasure',
    says: 'A session of an erased user is adopted.',
    file: 'src/limiter/check-session.ts',
    text: 'erasedAt !== undefined && !(await isRegistered(store, userId, token))',
    replacement: 'erasedAt === -1',
    named: /^adopt(?: again)?: .*outcome/,
  },
  {
    rule: 'events',
    says: 'The end of a session is told before the action of the mode.',
    file: 'src/limiter/ending/end-sessions.ts',
    text: `...asEvents(actionsOf(ended)),
      ...ended.map((session) => ({ type: 'ended', session: { ...session, end } }) as const),`,
    replacement: `...ended.map((session) => ({ type: 'ended', session: { ...session, end } }) as const),
      ...asEvents(actionsOf(ended)),`,
    named: /: events$/,
  },
  {
    rule: 'kinds of end',
    says: 'A session that the user chose ends as displaced.',
    file: 'src/limiter/admit-login.ts',
    text: "if (chosen.includes(token)) return 'chosen'",
    replacement: '',
    named: /: kinds/,
  },
]

const PART = 250
const LEAST = 1000
const MOST = 10_000

/** Checks that the recording finds each fault, by a difference that names it. */
export async function checkFaults(): Promise<void> {
  const recorded = recordedRules()
  const missed: string[] = []
  for (const fault of FAULTS) {
    const file = join(CACHE, `fault-${process.pid}.mjs`)
    await bundleRules(file, { edits: [fault] })
    const { count, differences } = await findFault(fault, { rules: file, recorded })
    rmSync(file)
    const named = differences.filter(({ kind }) => fault.named.test(kind))
    const [shortest] = named.toSorted((one, other) => one.words.length - other.words.length)
    console.log(`\n## ${fault.rule}: ${fault.says}`)
    console.log(`${differences.length} of ${count} histories differ, ${named.length} of them in what names the fault.`)
    console.log(shortest?.words ?? 'NOT FOUND')
    if (!shortest) missed.push(fault.rule)
  }
  console.log(`\n${FAULTS.length - missed.length} of ${FAULTS.length} faults were found.`)
  if (missed.length > 0) process.exitCode = 1
}

/** Plays recorded histories on faulty rules, until enough differ or none are left. */
async function findFault(fault: Fault, rules: { rules: string; recorded: string }) {
  const { hashes } = readHashes()
  const differences: Difference[] = []
  let count = 0
  const isNamed = () => differences.some(({ kind }) => fault.named.test(kind))
  while (count < Math.min(MOST, hashes.length) && (count < LEAST || !isNamed())) {
    const tasks = [0, 1, 2, 3].map((index) => {
      const from = count + index * PART
      const own = hashes.subarray(from, from + PART)
      return { from: from + 1, to: from + own.length + 1, step: 1, mode: 'hashes', hashes: own } as const
    })
    const { kinds } = reportOf(await runTasks(tasks, rules))
    differences.push(...[...kinds.values()].flat())
    count += tasks.length * PART
  }
  return { count, differences }
}
