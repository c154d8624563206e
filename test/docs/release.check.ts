import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownFolder } from '../support/own-folder.ts'
import { pageAt, ROOT } from './pages.ts'

const manifest = JSON.parse(pageAt('package.json').text)

/** Copies what a release reads and writes into a new folder. */
function copyForRelease(): string {
  const folder = ownFolder()
  for (const path of ['.changeset', '.github', 'CHANGELOG.md', 'package.json', 'scripts']) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  }
  writeFileSync(join(folder, '.changeset/one-more.md'), '---\n"sessmgr": patch\n---\n\nOne more change.\n')
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  spawnSync('git', ['init', '--quiet', '--initial-branch', 'main'], { cwd: folder })
  return folder
}

const run = (folder: string, script: string) =>
  spawnSync(process.execPath, [`scripts/${script}.mjs`], { cwd: folder, encoding: 'utf8' })

it('a release gets its version and a dated section, which says first what breaks and what to do', () => {
  const folder = copyForRelease()
  const changesets = readdirSync(join(folder, '.changeset')).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  )
  const kinds = changesets.map((name) => /": (\w+)/.exec(readFileSync(join(folder, '.changeset', name), 'utf8'))?.[1])
  const { status, stderr } = run(folder, 'release-version')
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('Error')])

  const [major = 0, minor = 0, patch = 0] = String(manifest.version).split('.').map(Number)
  const next = kinds.includes('major')
    ? `${major + 1}.0.0`
    : kinds.includes('minor')
      ? `${major}.${minor + 1}.0`
      : `${major}.${minor}.${patch + 1}`
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version).toBe(next)
  const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
  const [, latest = ''] = changelog.split(/^(?=## )/m)
  expect(latest.split('\n')[0]).toBe(`## ${next} (${new Date().toISOString().slice(0, 10)})`)
  const titles = [...latest.matchAll(/^### (.*)$/gm)].map(([, title]) => title)
  const wanted = ['Breaking', 'What you must do', 'New', 'Fixed']
  expect(titles).toEqual(wanted.filter((title) => titles.includes(title)))
  expect(titles).toContain('What you must do')
  expect(latest).not.toContain('What you must do:')
  expect(latest.match(/^- /gm)?.length).toBeGreaterThanOrEqual(kinds.length)

  const refused = run(folder, 'check-release')
  const missing = [...refused.stderr.matchAll(/^- (\S+): (\w+)/gm)].map(([, , field]) => field)
  const owners = ['repository', 'homepage', 'bugs', 'author'].filter((field) => !manifest[field])
  expect(missing.filter((field) => field !== 'the')).toEqual(owners)
  expect(refused.status).toBe(missing.length > 0 ? 1 : 0)
})

it('before that, a release is refused, because changesets wait', () => {
  const folder = copyForRelease()
  const { status, stderr } = run(folder, 'check-release')
  expect([status, stderr]).toEqual([1, expect.stringMatching(/CHANGELOG\.md: \d+ changesets/)])
})

it('workflows name the actions of others by hash', () => {
  const folder = join(ROOT, '.github/workflows')
  const uses = readdirSync(folder).flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/uses: (.*)$/gm)].map(([, action]) => action),
  )
  expect(uses.length).toBeGreaterThan(5)
  expect(uses.filter((action) => !/^\.\/|^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/.test(action ?? ''))).toEqual([])
})

describe('the release workflow', () => {
  const text = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8')
  const jobs = new Map(
    text
      .slice(text.indexOf('\njobs:\n') + 7)
      .split(/^(?= {2}[\w-]+:$)/m)
      .map((job) => [/^ {2}([\w-]+):$/m.exec(job)?.[1] ?? '', job]),
  )
  const jobOf = (name: string) => jobs.get(name) ?? ''
  const rightsOf = (job: string) =>
    [...(/permissions:\n((?: {6}.*\n)+)/.exec(job)?.[1] ?? '').matchAll(/ {6}(.*)\n/g)].map(([, right]) => right)

  it('builds and tests without rights, from the locked packages, without their install scripts', () => {
    const job = jobOf('build')
    expect(rightsOf(job)).toEqual(['contents: read'])
    const steps = ['npm ci --ignore-scripts', 'npm rebuild esbuild', 'npm test', 'npm pack', 'actions/upload-artifact@']
    const places = steps.map((step) => job.indexOf(step))
    expect(places).toEqual(places.filter((place) => place > 0).toSorted((a, b) => a - b))
    expect(Object.keys(manifest.allowScripts)).toEqual(['esbuild'])
  })

  it('publishes that file in an environment, where nothing else may run', () => {
    const job = jobOf('publish')
    expect(rightsOf(job)).toEqual(['id-token: write'])
    expect(job).toMatch(/^ {4}environment: \S+$/m)
    expect(job.match(/run: .*/g)).toEqual([
      expect.stringMatching(/^run: npm publish \.\/sessmgr-\*\.tgz .*--ignore-scripts$/),
    ])
    expect(job).not.toContain('actions/checkout')
    expect(text.match(/id-token: write/g)).toHaveLength(1)
  })

  it('waits for continuous integration', () => {
    expect(jobOf('ci')).toContain('uses: ./.github/workflows/ci.yml')
    const needed = ['tag', 'publish', 'build', 'version'].map((name) => /needs: (\S+)/.exec(jobOf(name))?.[1])
    expect(needed).toEqual(['publish', 'build', 'version', 'ci'])
  })

  it('installs nothing with install scripts, and leaves no token behind', () => {
    expect(text).not.toMatch(/npm (install|i) |npm ci(?! --ignore-scripts)|setup\.mjs(?! --installed)/)
    for (const name of readdirSync(join(ROOT, '.github/workflows'))) {
      const workflow = readFileSync(join(ROOT, '.github/workflows', name), 'utf8')
      const checkouts = workflow.split('actions/checkout@').slice(1)
      expect(
        checkouts.filter((step) => !/^.*\n {8}with:\n(?: {10}.*\n)* {10}persist-credentials: false\n/.test(step)),
      ).toEqual([])
    }
  })
})

it('the reference of the API has every entry point', () => {
  const { entryPoints } = JSON.parse(pageAt('site/typedoc.json').text)
  const doors = Object.keys(manifest.exports).filter((door) => !door.endsWith('.json'))
  expect(entryPoints.toSorted()).toEqual(
    doors.map((door) => `../src/${door === '.' ? 'index' : door.slice(2)}.ts`).toSorted(),
  )
})
