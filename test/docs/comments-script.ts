import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { placeholder } from '../../src/features/comments/create-comments.ts'
import { english } from '../support/english.ts'
import { ROOT } from './pages.ts'
import type { Names } from './public-api.ts'

const FOLDER = 'src/browser/comments'
const read = (name: string) => readFileSync(join(ROOT, FOLDER, name), 'utf8')

/** Reads what pages hold on to of the comments script: events with their details, the element, its classes, its policy. */
export function readCommentsScript(): Names {
  const script = read('lazy-comments.ts')
  return new Map([
    ['Events of the comments script', eventsIn(script)],
    ['Markup of the placeholder', markupOf()],
    ['Trusted Types policies', [only(/createPolicy\('([\w-]+)'/, script, 'the policy')]],
  ])
}

function eventsIn(script: string): string[] {
  const prefix = only(/new CustomEvent\(`([\w:-]+)\$\{event\}`/, script, 'what the names of the events begin with')
  const events: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText().endsWith('.#tell')) {
      const [name, detail] = node.arguments
      if (!name || !ts.isStringLiteral(name) || (detail && !ts.isObjectLiteralExpression(detail))) {
        throw new Error(`${FOLDER}/lazy-comments.ts tells an event whose name or detail is not written out.`)
      }
      const keys = (detail?.properties ?? []).map((property) => property.name?.getText())
      events.push(prefix + name.text + (keys.length > 0 ? ` { ${keys.join(', ')} }` : ''))
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('lazy-comments.ts', script, ts.ScriptTarget.Latest, true))
  return events
}

/** The element, its id and its classes, as they stand in a placeholder with everything in it. */
function markupOf(): string[] {
  const html = placeholder({
    postId: 1,
    postUrl: '/post',
    source: '/source',
    nonce: undefined,
    nonceHeader: '',
    settings: {
      load_method: 'click',
      button_text: 'Load',
      button_style: 'custom',
      button_class: '',
      show_loader: true,
      minimum_count: 1,
      disable_for_bots: true,
      cache_enabled: true,
    },
    say: english,
  })
  const classes = [...html.matchAll(/class="([^"]*)"/g)].flatMap(([, names = '']) => names.split(' '))
  const element = only(/^<([\w-]+) /, html, 'the element')
  return [`<${element}>`, `#${only(/id="([^"]*)"/, html, 'the id')}`, ...classes.map((name) => `.${name}`)]
}

function only(pattern: RegExp, text: string, what: string): string {
  const found = pattern.exec(text)?.[1]
  if (found === undefined)
    throw new Error(`${what} cannot be found: test/docs/comments-script.ts looks for ${pattern}.`)
  return found
}
