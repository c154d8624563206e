// Runs the tests of other projects, alone and with sessmgr between, and prints how many pass and how many have to. The
// argument is a folder with their clones, named like the suites, with dependencies installed. Further arguments choose
// suites. Fails if a suite cannot run, or passes too few tests:
//   node scripts/neighbours.mjs ../clones express-session koa-session
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { tsImport } from 'tsx/esm/api'
import { SUITES } from './neighbours/suites.mjs'

const [folder, ...chosen] = process.argv.slice(2)
if (!folder) throw new Error('Pass the folder with the clones.')
const unknown = chosen.filter((name) => !Object.hasOwn(SUITES, name))
if (unknown.length > 0) {
  throw new Error(`Unknown suites: ${unknown.join(', ')}. Choose from ${Object.keys(SUITES).join(', ')}.`)
}

const scratch = mkdtempSync(join(tmpdir(), 'sessmgr-neighbours-'))
console.log(`Outputs are in ${scratch}.`)
for (const [name, suite] of Object.entries(SUITES)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  try {
    await testAll(name, suite)
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  }
  for (const kind of ['alone', 'between']) rmSync(join(scratch, kind), { recursive: true, force: true })
}

async function testAll(name, suite) {
  const source = resolve(folder, name)
  if (!existsSync(source)) throw new Error(`there is no clone. Run: git clone ${urlOf(suite)} ${source}`)
  if (!existsSync(join(source, 'node_modules'))) throw new Error(`run \`npm install\` in ${source}`)
  const server = suite.postgres && (await startPostgres())
  const env = server ? { PGHOST: server.host, PGUSER: 'test', PGDATABASE: 'postgres' } : {}
  try {
    await test(name, 'alone', copyOf(name, 'alone'), env)
    const between = copyOf(name, 'between')
    putBetween(between, suite)
    for (const [way, options] of Object.entries(suite.ways)) {
      await test(name, way, between, { ...env, NEIGHBOUR: JSON.stringify(options) })
    }
  } finally {
    await server?.stop()
  }
}

function urlOf({ repository }) {
  return `https://github.com/${repository}.git`
}

async function startPostgres() {
  const module = await tsImport('../test/support/postgres-server.ts', import.meta.url)
  return await module.startPostgres()
}

/** Copies a clone, so that it stays as it is. */
function copyOf(name, kind) {
  const source = resolve(folder, name)
  const copy = join(scratch, kind, name)
  const isSource = (file) => !['node_modules', '.git', 'dist'].includes(basename(file)) || file === source
  cpSync(source, copy, { recursive: true, filter: isSource })
  symlinkSync(join(source, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

function putBetween(copy, { edits, added = {} }) {
  for (const [files, text, replacement] of edits) {
    const all = readdirSync(copy, { recursive: true }).map(String)
    const found = all.filter((it) => !it.startsWith('node_modules') && files.test(it) && /\.[jt]s$/.test(it))
    const edited = found.filter((it) => {
      const before = readFileSync(join(copy, it), 'utf8')
      const after = before.replaceAll(text, () => replacement)
      writeFileSync(join(copy, it), after)
      return after !== before
    })
    if (edited.length === 0) throw new Error(`${relative(scratch, copy)}: no file contains ${text}`)
  }
  for (const [file, text] of Object.entries(added)) writeFileSync(join(copy, file), text)
}

async function test(name, way, copy, env) {
  const { prepare, run, wanted } = SUITES[name]
  const output = await shell(prepare ? `${prepare} && ${run}` : run, copy, env)
  writeFileSync(join(scratch, `${name}-${way}.log`), output)
  const count = (pattern) => Number(output.match(pattern)?.[1] ?? 0)
  const passed = count(/(\d+) passing/) || count(/^# pass (\d+)/m) || count(/Tests .*?(\d+) passed/)
  const failed = count(/(\d+) failing/) || count(/^# fail (\d+)/m) || count(/Tests .*?(\d+) failed/)
  const least = wanted[way] ?? 1
  if (passed < least) process.exitCode = 1
  const judgement = passed < least ? `, too few: ${least} wanted` : wanted[way] ? `, ${least} wanted` : ''
  console.log(`${name}, ${way}: ${passed} passed, ${failed} failed${judgement}`)
  const names = output.matchAll(/^ {2}\d+\) ([\s\S]+?):\n|^ *not ok \d+ - (.+)|^ *FAIL .*? > (.+)/gm)
  for (const found of names) console.log(`  ${(found[1] ?? found[2] ?? found[3]).replace(/\s+/g, ' ')}`)
}

/** Runs a command with the programs of the copy's dependencies, and returns what it prints. */
function shell(command, cwd, env) {
  const PATH = `${join(cwd, 'node_modules', '.bin')}:${process.env.PATH}`
  // Without colors, so that failures can be found in the output. FORCE_COLOR would prevail.
  const { FORCE_COLOR: _, ...own } = process.env
  const child = spawn(command, { shell: true, cwd, env: { ...own, NO_COLOR: '1', ...env, PATH } })
  let output = ''
  const add = (text) => {
    output += text
  }
  child.stdout.setEncoding('utf8').on('data', add)
  child.stderr.setEncoding('utf8').on('data', add)
  return new Promise((done) => child.on('close', () => done(output)))
}
