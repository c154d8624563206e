import { readFileSync } from 'node:fs'

const README = new URL('../README.md', import.meta.url)

/** Reads the program at the top of the README, in the three forms that it comes in, and the lines that try it out. */
export function readmeProgram() {
  const blocks = [...readFileSync(README, 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
  const [install, esm, tryOut, requires, declaration, installTypes] = blocks.slice(0, 6).map(([, , code]) => code)
  const languages = blocks.slice(0, 6).map(([, language]) => language)
  if (languages.join() !== 'sh,ts,sh,js,ts,sh') throw new Error(`The README begins with other blocks: ${languages}.`)
  const body = esm.replaceAll(/^import .*\n/gm, '')
  return {
    esm,
    commonjs: requires + body,
    typescript: `${esm}\n${declaration}`,
    tryOut,
    packages: packagesIn(install),
    types: packagesIn(installTypes),
  }
}

function packagesIn(line) {
  return line
    .trim()
    .split(' ')
    .slice(2)
    .filter((word) => !word.startsWith('-'))
}
