import { readFileSync } from 'node:fs'

const PAGE = new URL('../docs/getting-started.md', import.meta.url)

/** Reads the program with Passport from the page in all its forms, and the lines that try it out. */
export function gettingStarted() {
  const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].slice(0, 7)
  const [install, , installTypes, installPassport, program, tryOut, declaration] = blocks.map(([, , code]) => code)
  const languages = blocks.map(([, language]) => language).join()
  if (languages !== 'sh,ts,sh,sh,ts,sh,ts')
    throw new Error(`The page does not start with the expected blocks, but with ${languages}.`)
  return {
    esm: program,
    commonjs: program.replaceAll(/^import (.*) from ('.*')$/gm, 'const $1 = require($2)'),
    typescript: `${program}\n${declaration}`,
    tryOut,
    packages: [...packagesIn(install), ...packagesIn(installPassport)],
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
